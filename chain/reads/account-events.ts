import { decodeEventLog, encodeEventTopics, parseAbi, type RpcLog } from 'viem'
import type { Address } from '../../core/action.js'
import type { AccountEvent, IndexedEvents, KeyEvent } from '../../core/owner-accounts.js'
import { matchingAbi, subAccountsAbi } from '../abi/contracts.js'
import { selectorsOf } from '../abi/selectors.js'
import { exactQuantityOf, quantityOf } from './answer-form.js'
import { orUnreachable, type ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import { readLogs } from './logs.js'
import { plainCalls, toAddress } from './plain-calls.js'

/** Of deployments whose accounts may change their manager. */
const managerAbi = parseAbi([
  'event AccountManagerChanged(uint256 indexed accountId, address indexed oldManager, address indexed newManager)',
])

const INDEXED = (
  [
    ['DepositedSubAccount', matchingAbi],
    ['WithdrewSubAccount', matchingAbi],
    ['WithdrawAccountCooldown', matchingAbi],
    ['SessionKeyRegistered', matchingAbi],
    ['SessionKeyCooldown', matchingAbi],
  ] as const
).map(([eventName, abi]) => encodeEventTopics({ abi, eventName })[0])
const MANAGER_CHANGED = encodeEventTopics({
  abi: managerAbi,
  eventName: 'AccountManagerChanged',
})[0]

const { manager: MANAGER } = selectorsOf(subAccountsAbi, 'manager')

export interface AccountEventReader {
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
}

/**
 * What happened to accounts in custody and to session keys in the blocks from `first` to `last`, at most MAX_LOG_BLOCKS, in order.
 * The manager of an account that came into custody is the present one. Rejects with ChainUnreachable.
 */
export async function readAccountEvents(
  { client, deployment }: AccountEventReader,
  first: bigint,
  last: bigint,
): Promise<IndexedEvents> {
  const { matching, subAccounts } = deployment
  const filter = { address: [matching, subAccounts], topics: [[...INDEXED, MANAGER_CHANGED]] }
  return orUnreachable(
    `accounts in blocks ${first} to ${last}`,
    readLogs(client, filter, { first, last }).then(async (logs) => {
      const events = logs.flatMap((log) => eventOf(deployment, log) ?? [])
      // The state of an old block may be gone; what has changed since follows as an event.
      const { word } = plainCalls(client, 'latest')
      const managerOf = async (id: bigint): Promise<Address> =>
        toAddress(await word(subAccounts, MANAGER, [id]))
      const accounts = await Promise.all(
        events
          .filter((event): event is UndecidedEvent => 'subaccountId' in event)
          .map(async (event): Promise<AccountEvent> => {
            if (event.kind !== 'deposited') return event
            return { ...event, manager: await managerOf(event.subaccountId) }
          }),
      )
      return { accounts, keys: events.filter((event): event is KeyEvent => 'key' in event) }
    }),
  )
}

type DepositedEvent = Extract<AccountEvent, { kind: 'deposited' }>
/** A deposit without its manager. */
type UndecidedEvent = Exclude<AccountEvent, { kind: 'deposited' }> | Omit<DepositedEvent, 'manager'>

/** Undefined for an event of another contract. Throws OddAnswer without a place, and viem's error for another form. */
function eventOf(
  { matching, subAccounts }: AccountEventReader['deployment'],
  log: RpcLog,
): UndecidedEvent | KeyEvent | undefined {
  const at = {
    blockNumber: quantityOf(log.blockNumber, 'the block of an event'),
    logIndex: exactQuantityOf(log.logIndex, 'the place of an event'),
  }
  const { topics, data } = log
  const from = lower(log.address)
  if (topics[0] === MANAGER_CHANGED) {
    if (from !== lower(subAccounts)) return undefined
    const { args } = decodeEventLog({ abi: managerAbi, topics, data })
    const { accountId: subaccountId, newManager } = args
    return { ...at, kind: 'managed', subaccountId, manager: lower(newManager) }
  }
  if (from !== lower(matching)) return undefined
  const event = decodeEventLog({ abi: matchingAbi, topics, data })
  switch (event.eventName) {
    case 'DepositedSubAccount':
      return {
        ...at,
        kind: 'deposited',
        subaccountId: event.args.accountId,
        owner: lower(event.args.owner),
      }
    case 'WithdrewSubAccount':
      return { ...at, kind: 'withdrawn', subaccountId: event.args.accountId }
    case 'WithdrawAccountCooldown':
      return { ...at, kind: 'leaving', subaccountId: event.args.accountId }
    case 'SessionKeyRegistered':
      return {
        ...at,
        owner: lower(event.args.owner),
        key: lower(event.args.sessionKey),
        expirySec: event.args.expiry,
      }
    case 'SessionKeyCooldown':
      return {
        ...at,
        owner: lower(event.args.owner),
        expirySec: 0n,
        key: lower(event.args.sessionKeyPublicAddress),
      }
    default:
      return undefined
  }
}

const lower = (address: Address): Address => address.toLowerCase() as Address
