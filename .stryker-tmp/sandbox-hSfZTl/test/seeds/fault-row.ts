/** A fault in one line, as the lists beside this file hold it. */
// @ts-nocheck

export type FaultRow = [
  id: string,
  sentence: string,
  file: string,
  find: string,
  replace: string,
  test: string,
  title: string,
];
