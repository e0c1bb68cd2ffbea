import type { PinnedBlock } from '../../chain/reads/blocks.js'
import type { ChainClient } from '../../chain/reads/client.js'
import type { AuditScratch } from '../../data/audit-scratch.js'
import type { JournalReader } from '../../data/journal/read-journal.js'
import type { Verdicts } from './verdicts.js'

export interface ChainChecks {
  readonly client: ChainClient
  /** Every chain read is as of this block. */
  readonly block: PinnedBlock
  /** The newest block after every other read: a fill beyond it is in a block that the chain has lost. */
  readonly newest: PinnedBlock
  readonly fromBlock: bigint
  readonly scratch: AuditScratch
  readonly journal: JournalReader | undefined
  readonly verdicts: Verdicts
  /** Fees are never withdrawn, so the fee account holds everything charged. */
  readonly feesKept: boolean
}
