import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

/** What reading and writing under a key of the user's needs; by way of the table and the queues, and by no other. */
const ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Lets a role use the key. The key's own policy has to allow the account to say so (docs/deploy.md). */
export function grantKey(role: Role, key: IKey): void {
  const { region } = Stack.of(role);
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ACTIONS,
      resources: [key.keyArn],
      // The end of the name differs by partition.
      conditions: {
        StringLike: { 'kms:ViaService': ['dynamodb', 'sqs'].map((service) => `${service}.${region}.amazonaws.com*`) },
      },
    }),
  );
}
