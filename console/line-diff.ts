/** Two texts line by line: what goes, what comes, what stays. For policies: short texts. */

export type DiffLine = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string };

/** The fewest lines that change (longest common subsequence). */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const common = commonLengths(a, b);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [gone, come] = [a[i], b[j]];
    if (gone !== undefined && gone === come) {
      lines.push({ kind: 'same', text: gone });
      i += 1;
      j += 1;
    } else if (gone !== undefined && (come === undefined || lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1))) {
      lines.push({ kind: 'gone', text: gone });
      i += 1;
    } else if (come !== undefined) {
      lines.push({ kind: 'new', text: come });
      j += 1;
    }
  }
  return lines;
}

const lengthAt = (table: readonly (readonly number[])[], i: number, j: number): number => table[i]?.[j] ?? 0;

/** At [i][j]: how many lines the rests from i and from j have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] =
        a[i] === b[j]
          ? lengthAt(table, i + 1, j + 1) + 1
          : Math.max(lengthAt(table, i + 1, j), lengthAt(table, i, j + 1));
    }
  }
  return table;
}

/** Only what changes, with `around` lines of what stays beside it. */
export const changedOnly = (lines: readonly DiffLine[], around: number): DiffLine[] =>
  lines.filter((_line, n) => lines.slice(Math.max(0, n - around), n + around + 1).some(({ kind }) => kind !== 'same'));
