/** A step of a scenario in words: what a person or an agent did, and what it was answered. */
import type { Answer } from '../requests.ts';
import { valueAt } from './match.ts';
import type { Step } from './scenario.ts';

export const detailOf = (body: unknown): string => {
  const detail = valueAt(body, 'detail');
  return typeof detail === 'string' ? detail : 'no reason was given';
};

/** What a person or an agent did, and what the control plane answered. */
export function describeStep(step: Step, { status, body }: Answer): string {
  const reply = `answered ${status}${status >= 300 ? ` ${String(valueAt(body, 'code'))}` : ''}`;
  if (step.report !== undefined) {
    const state = step.report['state'] ?? step.report['phase'];
    const why = step.report['cause'] ?? valueAt(step.report, 'error.reason');
    const message = step.report['message'] ?? valueAt(step.report, 'error.message');
    const words = [why, message].filter((word) => typeof word === 'string');
    return `reports ${String(state)}${words.length === 0 ? '' : ` (${words.join(': ')})`}; ${reply}${desiredIn(body)}`;
  }
  if (step.verb !== undefined) return `an operator asks: ${step.verb}; ${reply}`;
  if (step.put !== undefined) return `an operator puts ${JSON.stringify(step.put)}; ${reply}`;
  return `an operator deletes it; ${reply}`;
}

function desiredIn(body: unknown): string {
  const [power, state] = [valueAt(body, 'desired.power'), valueAt(body, 'desired.state')];
  if (typeof power === 'string') return `: that instance is to be ${power}`;
  return typeof state === 'string' ? `: it is to reach ${state}` : '';
}
