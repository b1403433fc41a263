/** Runs scenario files and says what happened: a timeline for people, or JSON. */
import { formatDuration, instant, milliseconds, parseInstant } from '../../core/kit/time.ts';
import { hourTable } from '../hour-table.ts';
import { type PrintOptions, timelineText } from './print.ts';
import { type Failure, type Result, runScenario } from './run.ts';
import { readScenario, ScenarioError } from './scenario.ts';
import { summaryText } from './summary-text.ts';

export type FileResult = Result & { file: string };

/**
 * @param read gives a file's text; a file that cannot be read or is no scenario fails, and the others still run
 * @param print how much of the timeline people get
 */
export async function simulateFiles(
  files: readonly string[],
  read: (file: string) => Promise<string>,
  json: boolean,
  print: PrintOptions = { full: false, subject: null },
): Promise<{ passed: boolean; text: string }> {
  const results: FileResult[] = [];
  for (const file of files) results.push({ file, ...(await simulateOne(file, read)) });
  const passed = results.every((result) => result.passed);
  return { passed, text: json ? toJson(results, passed) : results.map((result) => toText(result, print)).join('\n\n') };
}

async function simulateOne(file: string, read: (file: string) => Promise<string>): Promise<Result> {
  try {
    return await runScenario(readScenario(await read(file)));
  } catch (error) {
    const what =
      error instanceof ScenarioError
        ? `not a scenario that can be run: ${error.message}`
        : `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    if (!(error instanceof ScenarioError) && !isFileError(error)) throw error;
    return {
      passed: false,
      name: null,
      failures: [{ step: null, at: 0, what, expected: 'a scenario', actual: file }],
      timeline: [],
    };
  }
}

const isFileError = (error: unknown): boolean => error instanceof Error && 'code' in error;

/** One file: `{passed, failures, timeline}`; several: the same with each file's result under `scenarios`. */
function toJson(results: readonly FileResult[], passed: boolean): string {
  const [only] = results;
  if (only !== undefined && results.length === 1) return JSON.stringify(only, null, 2);
  const failures = results.flatMap(({ file, failures: own }) => own.map((failure) => ({ file, ...failure })));
  return JSON.stringify({ passed, failures, timeline: [], scenarios: results }, null, 2);
}

function toText(
  { file, name, description, passed, failures, timeline, summary, hours }: FileResult,
  print: PrintOptions,
): string {
  const title = `${passed ? 'PASS' : 'FAIL'}  ${file}${name === null ? '' : `  ${name}`}`;
  return [
    title,
    ...(description === undefined ? [] : [`  ${description}`]),
    ...timelineText(timeline, print),
    ...(summary === undefined ? [] : summaryText(summary)),
    ...(hours === undefined ? [] : hoursText(hours)),
    ...failures.map(failureText),
  ].join('\n');
}

/** The rollout by the hour, where it took that long. */
const hoursText = (rows: NonNullable<Result['hours']>): string[] => [
  '  By the hour',
  ...hourTable(rows.map(({ time, groups }) => ({ at: parseInstant(time) ?? instant(0), groups }))).map(
    (line) => `    ${line}`,
  ),
];

const failureText = ({ step, at, what, expected, actual }: Failure): string =>
  [
    `  ✗ ${step === null ? 'the file' : `step ${step} (at ${formatDuration(milliseconds(at * 1000))})`}: ${what}`,
    `      expected ${JSON.stringify(expected)}`,
    `      actual   ${JSON.stringify(actual)}`,
  ].join('\n');
