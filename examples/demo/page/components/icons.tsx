const paths = {
  running: ["M8 2.5a5.5 5.5 0 1 1-5.5 5.5", "M8 8h.01"],
  person: ["M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z", "M3.5 13.5a4.5 4.5 0 0 1 9 0"],
  check: ["m3 8.5 3.3 3.3L13 4.6"],
  cross: ["m4 4 8 8", "m12 4-8 8"],
  "no-entry": ["M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z", "m4.2 4.2 7.6 7.6"],
  stop: ["M4 4h8v8H4z"],
  clock: ["M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z", "M8 5v3.2l2 1.3"],
  leave: ["M7 3H3.5v10H7", "M6.5 8H13", "m10.5 5.5 2.5 2.5-2.5 2.5"],
  chevron: ["m5 6.5 3 3 3-3"],
  copy: ["M6 6h7v7H6z", "M10 6V3H3v7h3"],
  panel: ["M2.5 3.5h11v9h-11z", "M10 3.5v9"],
  send: ["M8 13V3.5", "m4 7.5 4-4 4 4"],
  down: ["M8 3v9.5", "m4 8.5 4 4 4-4"],
  "new-tab": ["M9 3h4v4", "m13 3-6 6", "M11 9.5V13H3V5h3.5"],
  place: [
    "M8 14s4.5-4.2 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.8 8 14 8 14Z",
    "M8 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  ],
  edit: ["m3 13 .6-2.700L10.8 3.100l2.1 2.1-7.2 7.200Z"],
  sun: [
    "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
    "M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1",
  ],
  warning: ["M8 2.5 14 13H2Z", "M8 6.500v3", "M8 11.300h.01"],
} as const satisfies Record<string, readonly string[]>;

export type IconName = keyof typeof paths;

/** A line drawing of 16 px in the colour of its text. Says nothing by itself: a word stands beside it or names its button. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {paths[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
}
