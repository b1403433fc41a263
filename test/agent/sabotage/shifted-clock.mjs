// Loaded into an agent before all else: its wall clock is off by the milliseconds that stand in a file, read anew each time.
import { readFileSync } from 'node:fs';

const Real = Date;
const shift = () => {
  try {
    return Number(readFileSync(process.env.SHIFT_FILE, 'utf8'));
  } catch {
    return 0;
  }
};
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + shift()] : given));
  }
  static now() {
    return Real.now() + shift();
  }
};
