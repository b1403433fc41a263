/**
 * Stands for the SDK's whole chain of credential providers in the bundles of the functions: Lambda gives a function the
 * keys of its role in the environment, and shared files, single sign-on or metadata services are never asked. It is a
 * tenth of the bundle, and of what a cold start loads (docs/design-notes.md).
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

/** Named as the SDK's clients import it. */
export const defaultProvider = fromEnv;
