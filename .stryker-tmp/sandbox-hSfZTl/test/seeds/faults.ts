/** The seeded faults: for each thing that the seeds say, a change of one expression that its test must notice. */
// @ts-nocheck

import { BRUPOP_FAULTS } from './faults-brupop.ts';
import { KUBEVIRT_FAULTS } from './faults-kubevirt.ts';

export type Fault = {
  id: string;
  /** What the seed says, or what its reviewers asked for. */
  sentence: string;
  file: string;
  /** Occurs exactly once in the file; white space counts as such. */
  find: string;
  replace: string;
  test: { file: string; title: string };
};

export const FAULTS: readonly Fault[] = [...BRUPOP_FAULTS, ...KUBEVIRT_FAULTS].map(
  ([id, sentence, file, find, replace, testFile, title]) => ({
    id,
    sentence,
    file,
    find,
    replace,
    test: { file: testFile, title },
  }),
);

/** The snippet as a pattern: how a formatter breaks the line makes no difference. */
export const snippet = ({ find }: Fault): RegExp =>
  new RegExp(
    find
      .split(/\s+/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join(String.raw`\s+`),
    'g',
  );
