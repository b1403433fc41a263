import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** IAM is one for all Regions of an account: its names end in the Region, so that one prefix can be deployed in several. */
const named = (scope: Construct, settings: Settings, what: string): string =>
  `${settings.prefix}-${what}-${Stack.of(scope).region}`;

export type Caller = 'agent' | 'operator' | 'viewer';

/** The managed policy of a kind of caller. */
export const policyName = (scope: Construct, settings: Settings, caller: Caller): string =>
  named(scope, settings, caller);

/** The role, and the instance profile, that the agent stack makes. */
export const ownNodeRole = (scope: Construct, settings: Settings): string => named(scope, settings, 'node');
