/**
 * Holdoff in a CDK app of yours (docs/library.md): `import { HoldoffAgents, HoldoffControlPlane } from 'holdoff'`.
 * What is not exported here may change without a word.
 */
export { HoldoffAgents } from './agent.ts';
export { HoldoffControlPlane, type HoldoffControlPlaneProps } from './holdoff.ts';
export { type Domain, type Settings, SettingsError } from './settings.ts';
export type { MetricName } from '../core/contract/names.ts';
