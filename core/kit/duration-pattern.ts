/** The durations that `parseDuration` takes, as one regular expression for the API's document. */

/** The longest duration in each unit: a year (see `DURATION_MAX`). */
const YEAR = { s: '31536000', m: '525600', h: '8760', d: '365' } as const;

const FRACTION = String.raw`(?:\.\d{1,3})?`;
const NO_FRACTION = String.raw`(?:\.0{1,3})?`;

const digits = (count: number): string => (count === 0 ? '' : String.raw`\d{${count}}`);

/** Whole numbers below a limit: fewer digits, or the same number of them with the first that differs smaller. */
function below(limit: string): string {
  const smaller = Array.from(limit).flatMap((digit, index) => {
    const least = index === 0 ? 1 : 0;
    const most = Number(digit) - 1;
    if (most < least) return [];
    const rest = digits(limit.length - index - 1);
    return [`${limit.slice(0, index)}${most === least ? least : `[${least}-${most}]`}${rest}`];
  });
  return String.raw`\d{1,${limit.length - 1}}|${smaller.join('|')}`;
}

const upToAYear = Object.entries(YEAR)
  .map(([unit, limit]) => `(?:(?:${below(limit)})${FRACTION}|${limit}${NO_FRACTION})${unit}`)
  .join('|');

/** `90s`, `15m`, `1.5h`, at most a year. */
export const DURATION_PATTERN = `^(?:${upToAYear})$`;
/** The same without those that are nothing, such as `0s`. */
export const POSITIVE_DURATION_PATTERN = `^(?=.*[1-9])(?:${upToAYear})$`;
