import { keepsEveryGuarantee } from './every-guarantee.ts';

keepsEveryGuarantee(101, 200);
