/** A copy of a row without one of its optional fields. */
export function omit<T extends object, K extends keyof T>(row: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = row;
  return rest;
}
