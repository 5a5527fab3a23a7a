/** How often each kill test repeats: HOLDFAST_KILL_ROUNDS, or 3. */
export function killRounds(): number {
  const given = process.env["HOLDFAST_KILL_ROUNDS"] ?? "3";
  const rounds = Number(given);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`HOLDFAST_KILL_ROUNDS is "${given}"; give a whole number of at least 1.`);
  }
  return rounds;
}
