import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  CfnGlobalTable,
  type ITableV2,
  ProjectionType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { type IndexName, TABLE } from '../core/contract/table.ts';
import type { HandlerFunction } from './function.ts';
import type { Settings } from './settings.ts';

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The one table: nodes, groups, VMs and the event log. */
export class Table extends Construct {
  /** The one in use. */
  readonly table: ITableV2 | TableV2;

  constructor(scope: Construct, id: string, settings: Settings, key: IKey | null) {
    super(scope, id);
    const keep = settings.removalPolicy === 'retain';
    const fuse = {
      maxReadRequestUnits: settings.tableUnitsPerSecondMax,
      maxWriteRequestUnits: settings.tableUnitsPerSecondMax,
    };
    const own = new TableV2(this, 'Table', {
      partitionKey: text(TABLE.key.partition),
      sortKey: text(TABLE.key.sort),
      timeToLiveAttribute: TABLE.timeToLiveAttribute,
      billing: Billing.onDemand(fuse),
      globalSecondaryIndexes: Object.entries(TABLE.indexes).map(([indexName, key]) => ({
        indexName,
        partitionKey: text(key.partition),
        sortKey: text(key.sort),
        projectionType: ProjectionType.KEYS_ONLY,
        ...fuse,
      })),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: keep,
      removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    if (key !== null) encrypt(own, key);
    const { restoredTable } = settings;
    // The old one stays as it was, in case the copy turns out to be the wrong one.
    this.table = restoredTable === undefined ? own : TableV2.fromTableName(this, 'Restored', restoredTable);
  }

  /** What a turn needs: single items by key, queries on the table and its indexes. No scan, no batch, no transaction. */
  grantTurns({ role }: HandlerFunction): void {
    const indexArns = Object.keys(TABLE.indexes).map((index) => `${this.table.tableArn}/index/${index}`);
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
        resources: [this.table.tableArn],
      }),
    );
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['dynamodb:Query'], resources: [this.table.tableArn, ...indexArns] }),
    );
  }

  /** Noting a wake that failed: on the node, and on the VMs that it hosts. */
  grantItems({ role }: HandlerFunction): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
        resources: [this.table.tableArn],
      }),
    );
    const host: IndexName = 'host';
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['dynamodb:Query'], resources: [`${this.table.tableArn}/index/${host}`] }),
    );
  }

  /** Adding to the event log. */
  grantAppend({ role }: HandlerFunction): void {
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['dynamodb:PutItem'], resources: [this.table.tableArn] }));
  }
}

/** As TableV2 does it by itself, which it refuses in a stack whose Region is known only when it is deployed. */
function encrypt(table: TableV2, key: IKey): void {
  const { defaultChild } = table.node;
  if (!(defaultChild instanceof CfnGlobalTable)) throw new TypeError('a TableV2 is made of a CfnGlobalTable');
  defaultChild.sseSpecification = { sseEnabled: true, sseType: 'KMS' };
  defaultChild.addPropertyOverride('Replicas.0.SSESpecification', { KMSMasterKeyId: key.keyArn });
}
