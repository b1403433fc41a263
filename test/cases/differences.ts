export type Difference = { row: string; reason: string };
export const DIFFERENCES: readonly Difference[] = [];
