/**
 * The life of a round, cell by cell; imports nothing. Rows are what happens, columns the state it meets. `kept` says
 * that one of its calls was settled or ever claimed, `in step` that it is a round of step `s`. Two rounds of an attempt
 * are open at once where their steps differ.
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
  "a round of another step opens": {
    open: { "": "open", "in step": "open" },
    closed: { "": "closed", "in step": "closed" },
  },
  "a round of its step opens": {
    open: { "": "open", "in step": "closed" },
    closed: { "in step": "closed" },
  },
  "a round of no step opens": {
    open: { "": "closed", "in step": "open" },
    closed: { "in step": "closed" },
  },
  "another step's round is withdrawn": { open: { "": "open", "in step": "open" }, closed: {} },
  "its step ends": {
    open: { "in step": "closed", "in step, kept": "closed" },
    closed: { "in step": "closed" },
  },
  "another step ends": { open: { "": "open", "in step": "open" }, closed: {} },
  "its step starts again": {
    open: {
      "in step": "superseded",
      "in step, answered by its agent": "superseded",
      "in step, claimed": "superseded",
      "in step, kept": "! step_settled",
      "": "open",
    },
    // All that its last attempt wrote, not its open round alone.
    closed: { "in step": "superseded", "in step, kept": "! step_settled" },
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
