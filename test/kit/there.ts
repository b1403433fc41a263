/** A value that this test knows to be there. */
export function there<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('the test takes something to be there that is not');
  return value;
}
