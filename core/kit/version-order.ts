/**
 * Which of two OS versions is the newer one: numbers between dots, an optional leading v, an optional pre-release, as
 * Bottlerocket writes them. What has another form has no order.
 */

type Version = { numbers: bigint[]; pre: string[] };

const FORM = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;
const NUMBER = /^\d+$/;

function parse(text: string): Version | null {
  const [, numbers, pre] = FORM.exec(text) ?? [];
  if (numbers === undefined) return null;
  return { numbers: numbers.split('.').map(BigInt), pre: pre?.split('.') ?? [] };
}

type Order = -1 | 0 | 1;

/** -1: the first is older; 0: neither is; 1: the second is; null: they cannot be compared. */
export function compareVersions(first: string, second: string): Order | null {
  const [a, b] = [parse(first), parse(second)];
  return a === null || b === null ? null : compareNumbers(a.numbers, b.numbers) || comparePre(a.pre, b.pre);
}

const order = <T>(a: T, b: T): Order => (a < b ? -1 : a > b ? 1 : 0);

/** A number that is left out is 0. */
function compareNumbers(a: readonly bigint[], b: readonly bigint[]): Order {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const found = order(a[index] ?? 0n, b[index] ?? 0n);
    if (found !== 0) return found;
  }
  return 0;
}

/** Before the release comes its pre-release; of two the one whose first differing part is less, numbers before words. */
function comparePre(a: readonly string[], b: readonly string[]): Order {
  if (a.length === 0 || b.length === 0) return order(b.length, a.length);
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const found = comparePart(part, other);
    if (found !== 0) return found;
  }
  return order(a.length, b.length);
}

function comparePart(a: string, b: string): Order {
  const [numberA, numberB] = [NUMBER.test(a), NUMBER.test(b)];
  if (numberA && numberB) return order(BigInt(a), BigInt(b));
  return numberA === numberB ? order(a, b) : numberA ? -1 : 1;
}
