import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import {
  VenueError,
  type DepositRecord,
  type Permit,
  type WithdrawalRecord,
} from '../../../client/index.js'
import type { Address } from '../../../core/action.js'
import type { TransferKind } from '../../../core/transfer.js'
import { roleAccounts } from '../../../devnet/chain/accounts.js'
import { seedAccounts } from '../../../devnet/chain/seed-accounts.js'
import { onThisMachine } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { transferUserOf, type TransferUser } from './transfer-user.js'

/** Whole USDC of an owner's transfers, one after the other: no amount twice, and as many as a minute allows. */
const DEPOSITS = [10, 11, 12]
const WITHDRAWALS = [1, 2, 3]
const PERMIT = '33'
/** Owners at a time. */
const LANES = 4
const AGAIN_MS = 200
const ANSWERED_WITHIN_MS = 60_000

/** A transfer that came to its end. */
export interface EndedTransfer {
  readonly kind: TransferKind
  readonly owner: string
  /** Whole USDC. */
  readonly amount: number
  readonly record: DepositRecord | WithdrawalRecord
}

export interface TransferLoad {
  /** Transfers of a kind that have ended so far. */
  ended(kind: TransferKind): number
  /** No further owner begins. */
  stop(): void
  /** Resolves when the load has stopped and everything that was begun has ended. */
  all(): Promise<readonly EndedTransfer[]>
}

/** New owners, each with a wallet of USDC and a spot account. */
export async function seedTransferUsers(venue: TestVenue, count: number): Promise<TransferUser[]> {
  const { devnet } = venue
  const { deployer } = await roleAccounts(venue.dataDir)
  const keys = Array.from({ length: count }, () => generatePrivateKey())
  const owners = keys.map((key) => privateKeyToAddress(key).toLowerCase() as Address)
  const sender = { rpcUrl: devnet.rpc_url, privateKey: deployer.privateKey }
  const seeded = await seedAccounts({ ...sender, deployment: devnet, owners })
  return keys.map((key, i) => transferUserOf(devnet, key, `${seeded[i]?.spotSubaccountId}`))
}

/**
 * Has the owners move money in and out without a pause, a few of them at a time: each sends its deposits one after the other,
 * and its withdrawals meanwhile. What was not answered, or refused for a while, is sent again with the same body.
 */
export function startTransfers(users: readonly TransferUser[], wrappedUsdc: Address): TransferLoad {
  const ended: EndedTransfer[] = []
  const waiting = [...users]
  let over = false

  async function deposits(user: TransferUser): Promise<void> {
    let permit: Permit | undefined = await user.permit(PERMIT)
    for (const amount of DEPOSITS) {
      const body = await user.deposit(`${amount}`, permit && { permit })
      const record = await untilEnded(
        () => user.venue.deposit(body),
        (hash) => user.venue.settledDeposit(hash),
      )
      ended.push({ kind: 'deposit', owner: user.address, amount, record })
      permit = undefined
    }
  }

  async function withdrawals(user: TransferUser): Promise<void> {
    for (const amount of WITHDRAWALS) {
      const body = await user.withdrawal({ asset: wrappedUsdc, amount: `${amount}` })
      const record = await untilEnded(
        () => user.venue.withdraw(body),
        (hash) => user.venue.settledWithdrawal(hash),
      )
      ended.push({ kind: 'withdrawal', owner: user.address, amount, record })
    }
  }

  async function lane(): Promise<void> {
    while (!over) {
      const user = waiting.shift()
      if (user === undefined) throw new Error('the load has no owner left')
      await Promise.all([deposits(user), withdrawals(user)])
    }
  }

  const lanes = Promise.all(Array.from({ length: LANES }, lane))
  lanes.catch(() => undefined)
  return {
    ended: (kind) => ended.filter((each) => each.kind === kind).length,
    stop: () => {
      over = true
    },
    all: async () => {
      await lanes
      return ended
    },
  }
}

/** Sends as a careful client does, until the transfer has ended in another way than by a refusal that passes. */
async function untilEnded<T extends DepositRecord | WithdrawalRecord>(
  send: () => Promise<{ readonly action_hash: string }>,
  settled: (actionHash: string) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + onThisMachine(ANSWERED_WITHIN_MS)
  for (;;) {
    try {
      const { action_hash: hash } = await send()
      const record = await settled(hash)
      if (record.status !== 'rejected') return record
    } catch (error) {
      const passes = error instanceof VenueError && error.retry === 'same'
      if (!passes || performance.now() > giveUpAt) throw error
      await delay((error.retryAfterSec ?? 0) * 1_000 + AGAIN_MS)
    }
  }
}
