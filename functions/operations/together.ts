/** Many things at once, but never more than so many, and no new one once the time is up. */

/**
 * @param goOn asked before each; once it says no nothing more is begun
 * @returns how many were begun
 */
export async function together<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
  goOn: () => boolean = () => true,
): Promise<number> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length && goOn()) {
      const item = items[next] as T; // within the bounds just asked
      next += 1;
      await act(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return next;
}
