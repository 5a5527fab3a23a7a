/** How often each kill test repeats: HOLDFAST_KILL_ROUNDS, or 3. */
export function killRounds(): number {
  return roundsOf("HOLDFAST_KILL_ROUNDS", "3");
}

/** How often each race is run: HOLDFAST_RACE_ROUNDS, or 20. */
export function raceRounds(): number {
  return roundsOf("HOLDFAST_RACE_ROUNDS", "20");
}

function roundsOf(variable: string, otherwise: string): number {
  const given = process.env[variable] ?? otherwise;
  const rounds = Number(given);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`${variable} is "${given}"; give a whole number of at least 1.`);
  }
  return rounds;
}
