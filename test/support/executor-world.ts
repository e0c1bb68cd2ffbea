import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SenderPolicy } from '../../chain/sender/follow-transaction.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Signers } from '../../chain/signing/open-signers.js'
import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { notionalFeeFloor } from '../../core/contracts/fees.js'
import { amountE18, priceE18, quoteE18, type QuoteE18 } from '../../core/money.js'
import { loadMarkets } from '../../data/markets.js'
import type { Admit } from '../../executor/admit.js'
import { createApp } from '../../executor/app.js'
import { observeExecutor, type ExecutorObserver } from '../../executor/observe.js'
import { openExecutor } from '../../executor/open-executor.js'
import { createTermsCheck } from '../../executor/payload.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { createLog } from '../../runtime/process/log.js'
import { readBody } from './answer-body.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import type { SignedOrder } from './devnet-actions.js'
import { testKey, type World } from './devnet-world.js'
import { FAST_SENDER } from './sender-world.js'
import { serveApp } from './serve-app.js'

/** The key that the test deployment allows to settle trades. */
export const EXECUTOR_KEY = testKey(1002)

/** The secret that every executor of the tests asks for. */
export const EXECUTOR_SECRET = 'secret of the tests'.repeat(2)

/** How long a request waits by default: more than a settlement takes on a loaded machine. */
const PATIENT_MS = 40_000

export interface RunningExecutor {
  readonly url: string
  readonly dataDir: string
  /** `key` goes into the Idempotency-Key header. */
  readonly post: (body: unknown, key?: string) => Promise<Answer>
  /** Hashes of what was journaled, in order. */
  readonly journaled: readonly Hex[]
  readonly stop: () => Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

export interface ExecutorSetup {
  /** By default the shipped markets. */
  readonly markets?: readonly Market[]
  readonly dataDir?: string
  readonly rpcUrl?: string
  readonly privateKey?: Hex
  /** In place of `privateKey`. */
  readonly signers?: Signers
  readonly chainId?: number
  readonly matching?: Address
  /** false: each match in a transaction of its own, as where there is no batch executor. */
  readonly batches?: boolean
  readonly batchExecutor?: Address
  /** What the venue's log has to settle; by default whatever is asked for. */
  readonly admit?: Admit
  readonly gasReserveWei?: bigint
  /** USDC at 1e18 for 1e18 wei; by default gas costs nothing. */
  readonly gasTokenPrice?: QuoteE18
  readonly acceptNonces?: number
  readonly windowMs?: number
  readonly timeoutMs?: number
  readonly policy?: Partial<SenderPolicy>
  readonly facts?: Partial<ExecutorObserver>
}

/** The bus of each directory, so that an executor that is opened again finds its journal's stream. */
const buses = new Map<string, MemoryBus>()

function busOf(dataDir: string): Bus {
  const known = buses.get(dataDir) ?? createMemoryBus()
  buses.set(dataDir, known)
  return known.connect()
}

/** An executor on the world's chain, listening on a free port, with a journal of its own by default. */
export async function startExecutor(
  world: World,
  setup: ExecutorSetup = {},
): Promise<RunningExecutor> {
  const { dataDir = await temporaryDir(), timeoutMs = PATIENT_MS } = setup
  const journaled: Hex[] = []
  const log = createLog('test', 'silent')
  const facts: ExecutorObserver = {
    ...observeExecutor(log),
    journaled: (transaction) => journaled.push(...transaction.attempts.map(({ hash }) => hash)),
    ...setup.facts,
  }
  const onFatal = (error: unknown) => {
    throw error
  }
  const { markets = marketsOf(world) } = setup
  const bus = busOf(dataDir)
  const executor = await openExecutor({
    bus,
    rpcUrl: setup.rpcUrl ?? world.anvil.rpcUrl,
    signers: setup.signers ?? {
      current: createTransactionSigner(setup.privateKey ?? EXECUTOR_KEY, ANVIL_CHAIN_ID),
    },
    deployment: {
      chainId: setup.chainId ?? ANVIL_CHAIN_ID,
      matching: setup.matching ?? world.at.matching,
      subAccounts: world.at.sub_accounts,
      ...(setup.batches !== false && {
        batchExecutor: setup.batchExecutor ?? world.at.batch_executor,
      }),
    },
    markets,
    dataDir,
    timeoutMs,
    policy: { ...FAST_SENDER, ...setup.policy },
    gasReserveWei: setup.gasReserveWei ?? 0n,
    gasTokenPrice: setup.gasTokenPrice ?? quoteE18(0n),
    ...(setup.acceptNonces !== undefined && { acceptNonces: setup.acceptNonces }),
    ...(setup.windowMs !== undefined && { windowMs: setup.windowMs }),
    facts,
    onFatal,
  })
  const checkTerms = createTermsCheck(markets)
  const { admit = () => Promise.resolve({ kind: 'admitted' }) } = setup
  const door = { secret: EXECUTOR_SECRET, hosts: [] }
  const app = createApp({ ...executor, checkTerms, admit, door, log, onFatal })
  const served = await serveApp(app)
  return {
    url: served.url,
    dataDir,
    journaled,
    post: (body, key) => post(`${served.url}/execute`, body, idempotency(key)),
    stop: async () => {
      await executor.stop()
      await served.stop()
      await executor.close()
      await bus.close()
    },
  }
}

/** The shipped markets on the world's contracts. */
export const marketsOf = ({ at }: World): readonly Market[] =>
  loadMarkets(Object.fromEntries(Object.entries(at).map(([name, value]) => [name, `${value}`])))
    .markets

const idempotency = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      authorization: `Bearer ${EXECUTOR_SECRET}`,
      ...headers,
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await readBody(response) }
}

/** A directory of its own under the system's temporary one. */
export const temporaryDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'executor-'))

export const removeDir = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

export interface PayloadTerms {
  /** The spot market by default. */
  readonly market?: string
  readonly taker: SignedOrder
  readonly makers: readonly SignedOrder[]
  /** Of each fill, at 1e18; all of the maker's order by default. */
  readonly amount?: bigint
  /** What the schedule says by default. */
  readonly takerFee?: bigint
}

const TAKER_FEE_BPS = 25

/** Body of `POST /execute` as the matcher sends it; each fill at its maker's price. */
export function executeBody({ market, taker, makers, amount, takerFee }: PayloadTerms) {
  const fees = makers.map(({ trade }) => {
    const filled = amountE18(amount ?? trade.desiredAmount)
    return notionalFeeFloor(priceE18(trade.limitPrice), filled, TAKER_FEE_BPS)
  })
  return {
    market: market ?? 'cNGN-USDC',
    asset_address: taker.trade.asset,
    module_address: taker.action.module,
    maker_order_id: 'maker-0',
    taker_order_id: 'taker',
    maker_order_ids: makers.map((_, i) => `maker-${i}`),
    actions: [taker, ...makers].map(actionJson),
    signatures: [taker, ...makers].map(({ signature }) => signature),
    order_data: {
      taker_account: taker.action.subaccountId.toString(),
      taker_fee: (takerFee ?? fees.reduce((sum, fee) => sum + fee, 0n)).toString(),
      fill_details: makers.map(({ action, trade }) => ({
        filled_account: action.subaccountId.toString(),
        amount_filled: (amount ?? trade.desiredAmount).toString(),
        price: trade.limitPrice.toString(),
        fee: '0',
      })),
      manager_data: '0x',
    },
  }
}

function actionJson({ action }: SignedOrder) {
  return {
    subaccount_id: action.subaccountId.toString(),
    nonce: action.nonce.toString(),
    module: action.module as string,
    data: action.data as string,
    expiry: action.expiry.toString(),
    owner: action.owner as string,
    signer: action.signer as string,
  }
}
