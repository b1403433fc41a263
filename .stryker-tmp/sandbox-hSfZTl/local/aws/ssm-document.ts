// @ts-nocheck
import { AwsError, EmbeddedAwsError } from './errors.ts';

/** The content of a Command document, schema 2.2, as far as the stand-in runs it. */
export interface SsmDocument {
  readonly schemaVersion: '2.2';
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, SsmParameter>>;
  readonly mainSteps: readonly SsmStep[];
}

export interface SsmParameter {
  readonly type: 'String';
  readonly description?: string;
  readonly default?: string;
  readonly allowedPattern?: string;
  readonly allowedValues?: readonly string[];
  /** Hands the value over as the environment variable `SSM_<name>`, and not as text of the script. */
  readonly interpolationType?: 'ENV_VAR';
}

export interface SsmStep {
  readonly action: 'aws:runShellScript';
  readonly name: string;
  readonly precondition?: { readonly StringEquals: readonly [string, string] };
  readonly inputs: {
    readonly runCommand: readonly string[];
    readonly timeoutSeconds?: string;
    readonly workingDirectory?: string;
  };
}

/** Refuses a document that SSM or its agent would refuse, or run otherwise than its author thinks. */
export function checkDocument(name: string, document: SsmDocument): void {
  const bad = (what: string): EmbeddedAwsError => new EmbeddedAwsError('BadDocument', `document ${name}: ${what}`);
  if (document.mainSteps.length === 0) throw bad('it has no steps');
  for (const [parameter, { allowedPattern }] of Object.entries(document.parameters ?? {})) {
    // The agent's own rule (facts/aws-services.md, section 2, Documents).
    if (!/^[a-zA-Z0-9]+$/.test(parameter)) throw bad(`the agent takes no parameter named ${parameter}`);
    if (allowedPattern !== undefined) new RegExp(allowedPattern);
  }
  for (const step of document.mainSteps) {
    const [left, right] = step.precondition?.StringEquals ?? ['platformType', 'Linux'];
    if (left !== 'platformType' || right !== 'Linux') throw bad(`step ${step.name} is not for Linux`);
    if (step.inputs.timeoutSeconds !== undefined && !/^[0-9]{1,6}$/.test(step.inputs.timeoutSeconds)) {
      throw bad(`step ${step.name} has a timeoutSeconds that is no number`);
    }
    for (const [, used = ''] of step.inputs.runCommand.join('\n').matchAll(/\{\{\s*(\w+)\s*\}\}/g)) {
      const parameter = document.parameters?.[used];
      if (parameter === undefined) throw bad(`step ${step.name} uses the parameter ${used}, which it does not have`);
      if (parameter.interpolationType === 'ENV_VAR') throw bad(`${used} is an environment variable, not text`);
    }
  }
}

export type ParameterValues = ReadonlyMap<string, string>;

/** Takes the parameters of a SendCommand, or refuses it with InvalidParameters. */
export function bindParameters(
  document: SsmDocument,
  given: Readonly<Record<string, readonly string[]>>,
): ParameterValues {
  const declared = document.parameters ?? {};
  const unknown = Object.keys(given).find((name) => declared[name] === undefined);
  if (unknown !== undefined) throw invalid(`the document has no parameter ${unknown}`);
  return new Map(
    Object.entries(declared).map(([name, parameter]) => [name, bind(name, parameter, given[name])] as const),
  );
}

function bind(name: string, parameter: SsmParameter, given: readonly string[] | undefined): string {
  if (given !== undefined && given.length !== 1) throw invalid(`${name} takes one value, not ${given.length}`);
  const value = given?.[0] ?? parameter.default;
  if (value === undefined) throw invalid(`${name} is required`);
  const { allowedPattern, allowedValues } = parameter;
  if (allowedPattern !== undefined && !new RegExp(allowedPattern).test(value)) {
    throw invalid(`${name} does not match ${allowedPattern}`);
  }
  if (allowedValues !== undefined && !allowedValues.includes(value)) throw invalid(`${name} is not an allowed value`);
  return value;
}

const invalid = (message: string): AwsError => new AwsError('InvalidParameters', `InvalidParameters: ${message}`);

/** A step as the agent is about to run it. */
export interface BoundStep {
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly workingDirectory: string | undefined;
}

/** The time-out of aws:runShellScript when the step has none. */
const STEP_TIMEOUT_SECONDS = 3600;

/** Puts the parameters into a step: as text, or, by an agent that can, as environment variables. */
export function bindStep(
  document: SsmDocument,
  step: SsmStep,
  values: ParameterValues,
  agentTakesVariables: boolean,
): BoundStep {
  const script = step.inputs.runCommand
    .join('\n')
    .replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => values.get(name) ?? '');
  const variables = [...values].filter(([name]) => document.parameters?.[name]?.interpolationType === 'ENV_VAR');
  return {
    script,
    environment: Object.fromEntries(
      agentTakesVariables ? variables.map(([name, value]) => [`SSM_${name}`, value]) : [],
    ),
    timeoutMs: Number(step.inputs.timeoutSeconds ?? STEP_TIMEOUT_SECONDS) * 1000,
    workingDirectory: step.inputs.workingDirectory,
  };
}
