/**
 * The life of a round, cell by cell; imports nothing. Rows are what happens, columns the state it meets. `kept` says
 * that one of its calls was settled or ever claimed. Left out until steps exist: the end of its step, and a newer
 * attempt of it.
 */
export const ROUND_CELLS: Readonly<
  Record<string, Readonly<Record<"open" | "closed", Readonly<Record<string, string>>>>>
> = {
  "the next round opens": { open: { "": "closed", kept: "closed" }, closed: { "": "closed" } },
  "it is closed": { open: { "": "closed", kept: "closed" }, closed: { "": "closed" } },
  "it is withdrawn": {
    open: { "": "superseded", "answered by its agent": "superseded", kept: "! step_settled" },
    closed: { "": "closed" },
  },
  "its attempt finishes": { open: { "": "closed", kept: "closed" }, closed: { "": "closed" } },
  "its attempt is lost": {
    open: {
      "": "superseded",
      kept: "closed",
      "answered by its agent": "closed",
      claimed: "closed",
      "claimed once": "closed",
    },
    closed: { "": "closed" },
  },
  "its run is cancelled": { open: { "": "closed", kept: "closed" }, closed: { "": "closed" } },
  "its run is replaced": { open: { "": "closed" }, closed: { "": "closed" } },
  "its run fails": { open: { "": "closed" }, closed: { "": "closed" } },
  "its agent is given up": { open: { "": "closed" }, closed: { "": "closed" } },
};
