import { keepsEveryGuarantee } from './every-guarantee.ts';

keepsEveryGuarantee(1);
