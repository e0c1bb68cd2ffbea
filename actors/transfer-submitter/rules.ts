import { checkClock } from '../../chain/reads/blocks.js'
import {
  ChainUnreachable,
  createChainClient,
  createCircuitBreaker,
  type ChainClient,
} from '../../chain/reads/client.js'
import type { CalledContracts, Deployment } from '../../chain/reads/deployment.js'
import {
  createAccountReader,
  type SubaccountFacts,
  type AccountReader,
} from '../../chain/reads/read-account.js'
import type { HangUp } from '../../chain/reads/hang-up.js'
import { createTransferReader, type TransferReader } from '../../chain/reads/read-transfer.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import type { Action, Address, Hex } from '../../core/action.js'
import { blockTimeSec, deadlineMs } from '../../core/time.js'
import type { TransferRefusal } from '../../core/entry/transfer-refusals.js'
import type { TransferBody } from '../../core/entry/validate-transfer.js'
import type { TokenUnits6 } from '../../core/money.js'
import type { TransferKind } from '../../core/transfer.js'

/** A transfer whose body passed the checks of its form. */
export interface SignedTransfer {
  readonly action: Action
  readonly signature: Hex
  readonly asset: Address
  readonly amount: TokenUnits6
}

/** A call that may have to be mined before the transfer: a deposit's permit. */
export interface Preparation {
  readonly intentId: string
  readonly to: Address
  readonly data: Hex
  /** The answer when it is refused. */
  readonly refusalOf: (revert?: string) => TransferRefusal
}

/** Whether the transfer needs its preparation now, or why it cannot be carried out. */
export type Need = 'nothing' | 'preparation' | { readonly refusal: TransferRefusal }

/** The differences between deposits and withdrawals. Methods that ask the chain reject with ChainUnreachable. */
export interface TransferRules<Transfer extends SignedTransfer> {
  readonly kind: TransferKind
  /** The module that spends the action's nonce. */
  readonly module: Address
  /** The contracts that transfers of this kind touch besides matching, by their names in the deployment. */
  readonly contracts: Omit<CalledContracts, 'matching'>
  /** Checks the form of the request. */
  readonly validate: (
    body: TransferBody,
    nowMs: number,
  ) => Transfer | { readonly refusal: TransferRefusal }
  /** Checks the transfer against the chain; undefined when it passes. */
  readonly preCheck: (transfer: Transfer) => Promise<TransferRefusal | undefined>
  /** The preparation that the request brings; undefined when it brings none. */
  readonly preparation: (transfer: Transfer) => Preparation | undefined
  readonly need: (transfer: Transfer) => Promise<Need>
  /** Whether a revert means that the state seen by `preCheck` has changed since. */
  readonly isRace: (revert: string) => boolean
  /** The public name of a revert. */
  readonly revertName: (asset: Address, revert: string) => string
  readonly perMinute: number
  /** Most submitted in an hour; unlimited when absent. */
  readonly perHour?: number
}

/** The facts of an account at the newest block. Rejects with ChainUnreachable when they are not known. */
export async function readHeldAccount(
  accounts: Pick<AccountReader, 'readAccount'>,
  id: bigint,
): Promise<SubaccountFacts> {
  const facts = await accounts.readAccount(id)
  if (facts === undefined) throw new ChainUnreachable(`no answer from the chain: account ${id}`)
  return facts
}

/** The chain clients of a submitter. */
export interface SubmitterChain {
  /** A `read` client. */
  readonly client: ChainClient
  readonly reader: TransferReader
  /** Reads the newest block, without a cache. */
  readonly accounts: AccountReader
  readonly verifier: SignatureVerifier
  /** The signing domain as a refusal shows it. */
  readonly domain: Readonly<Record<string, unknown>>
  readonly clock: ExpiryClock
}

export interface ChainOptions {
  readonly rpcUrl: string
  readonly deployment: Deployment
  /** Who sends transfers. */
  readonly sender: Address
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly onWarning: (message: string) => void
  readonly hangUp: HangUp
}

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that does not answer is accepted. */
export async function openChain(options: ChainOptions): Promise<SubmitterChain> {
  const { rpcUrl, deployment, sender, nowMs, onWarning, hangUp } = options
  const client = createChainClient(rpcUrl, 'read', hangUp)
  await checkClock({ client, nowMs, onWarning })
  const judge = createChainClient(rpcUrl, 'judge', hangUp)
  const breaker = createCircuitBreaker()
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  const asker = { matching: deployment.matching, sender }
  const reads = createSignatureReads({ judge, probe: client, breaker, asker })
  return {
    client,
    reader: createTransferReader(client),
    accounts: createAccountReader({ client, deployment, cacheMs: 0 }),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
    clock: createChainClock(nowMs),
  }
}

/** The time for checks of expiry: the later of our clock and the newest block. */
export interface ExpiryClock {
  /** Unix milliseconds. */
  latestMs(): number
  /** Reports the time of a block that was read, in unix seconds. */
  saw(blockSec: bigint): void
}

export function createChainClock(nowMs: () => number): ExpiryClock {
  let blockMs = 0
  return {
    latestMs: () => Math.max(nowMs(), blockMs),
    // Not the maximum: a block that the chain lost again must not keep actions expired.
    saw: (blockSec) => (blockMs = deadlineMs(blockTimeSec(blockSec))),
  }
}
