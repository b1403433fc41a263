/** A node as SSM names it: `i-` with 8 or 17 hex digits, or `mi-` with 17 (botocore ssm model). */
export type NodeId = string & { readonly __node: true };
export type GroupId = string & { readonly __group: true };
export type VmId = string & { readonly __vm: true };
/** One life of a VM. */
export type InstanceId = string & { readonly __instance: true };

/** What the ids are, as the API's document shows it and the parsers below hold it. */
export const NODE_ID_PATTERN = '^(?:i-(?:[0-9a-f]{8}|[0-9a-f]{17})|mi-[0-9a-f]{17})$';
export const NAME_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$';
export const INSTANCE_ID_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?$';

const NODE = new RegExp(NODE_ID_PATTERN);
const NAME = new RegExp(NAME_PATTERN);
const INSTANCE = new RegExp(INSTANCE_ID_PATTERN);

export const NODE_ID_RULE = 'i- with 8 or 17 hexadecimal digits, or mi- with 17';
export const NAME_RULE =
  '1 to 63 letters, digits, dots, underscores or hyphens, beginning and ending with a letter or digit';
export const INSTANCE_ID_RULE =
  '1 to 128 letters, digits, dots, underscores, colons or hyphens, beginning and ending with a letter or digit';

// The casts below hold: each string has just matched the pattern that defines the brand.
export const parseNodeId = (text: string): NodeId | null => (NODE.test(text) ? (text as NodeId) : null);
export const parseGroupId = (text: string): GroupId | null => (NAME.test(text) ? (text as GroupId) : null);
export const parseVmId = (text: string): VmId | null => (NAME.test(text) ? (text as VmId) : null);
export const parseInstanceId = (text: string): InstanceId | null => (INSTANCE.test(text) ? (text as InstanceId) : null);

/** The group a node belongs to when its first report names none. The literal is a valid name. */
export const DEFAULT_GROUP = 'default' as GroupId;
