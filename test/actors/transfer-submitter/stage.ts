import { after } from 'mocha'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFunctionData, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createDepositRules } from '../../../actors/transfer-submitter/deposit-rules.js'
import {
  openSubmitter,
  type SubmitterOptions,
} from '../../../actors/transfer-submitter/open-submitter.js'
import type { SignedTransfer } from '../../../actors/transfer-submitter/rules.js'
import { createWithdrawalRules } from '../../../actors/transfer-submitter/withdrawal-rules.js'
import { decodeGasStanding } from '../../../bus-schemas/operations.js'
import { askGasStanding, askTransfer, askTransferRecord } from '../../../bus-schemas/subjects.js'
import {
  decodeTransferAnswer,
  encodeTransferLookup,
  encodeTransferRequest,
  type TransferAnswer,
} from '../../../bus-schemas/transfers.js'
import { erc20Abi, matchingAbi } from '../../../chain/abi/contracts.js'
import { deploymentSchema, type Deployment } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Address, Hex } from '../../../core/action.js'
import { assert } from '../../../core/assert.js'
import type { TransferRefusal } from '../../../core/entry/transfer-refusals.js'
import type { GasStanding, TransferKind, TransferRecord } from '../../../core/transfer.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import {
  administer,
  lower,
  openWorld,
  perform,
  testKey,
  type Trader,
  type World,
} from '../../support/devnet-world.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { FAST_SENDER } from '../../support/sender-world.js'

const ASK_TIMEOUT_MS = 20_000
const POLICY = { ...FAST_SENDER, rebroadcastMs: 500 }
/** 1,000 USDC. */
export const PURSE = 1_000_000_000n

/** One chain, deployment and bus for every test of deposits and withdrawals. */
export interface TransferStage {
  readonly world: World
  readonly deployment: Deployment
  readonly nats: TestNatsServer
  readonly bus: Bus
}

let opened: Promise<TransferStage> | undefined

export function transferStage(): Promise<TransferStage> {
  opened ??= open()
  return opened
}

async function open(): Promise<TransferStage> {
  const [world, nats] = await Promise.all([openWorld(), startNatsServer()])
  const bus = await connectNatsBus({ url: nats.url, name: 'test' })
  return { world, nats, bus, deployment: deploymentSchema.parse(world.at) }
}

/** Mocha's root hook: chain and bus end after the last test. */
after(async () => {
  const stage = await opened?.catch(() => undefined)
  await stage?.bus.close()
  await Promise.all([stage?.world.anvil.stop(), stage?.nats.stop()])
})

let lastKey = 50_000
const freshKey = (): Hex => testKey((lastKey += 1))

/** A wallet that no test used before, with ether and 1,000 USDC, and no account yet. */
export async function freshOwner({ world }: TransferStage, usdc = PURSE): Promise<Trader> {
  const account = privateKeyToAccount(freshKey())
  const address = lower(account.address)
  await world.client.setBalance({ address, value: 10n ** 18n })
  await mint(world, world.at.usdc, address, usdc)
  return { account, address, subaccountId: 0n }
}

const mintAbi = parseAbi(['function mint(address to, uint256 amount)'])

export async function mint(world: World, token: Address, to: Address, units: bigint) {
  await administer(world, token, mintAbi, 'mint', to, units)
}

/** Lets the deposit module take so much of the owner's USDC. */
export async function approve({ world }: TransferStage, owner: Address, units: bigint) {
  const args = [world.at.deposit_module, units] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  await perform(world, { from: owner, to: world.at.usdc, data })
}

/** A new key that matching lets execute, with so much ether. */
export async function freshExecutor({ world }: TransferStage, wei = 10n ** 19n): Promise<Hex> {
  const key = freshKey()
  const address = lower(privateKeyToAccount(key).address)
  await world.client.setBalance({ address, value: wei })
  await administer(world, world.at.matching, matchingAbi, 'setTradeExecutor', address, true)
  return key
}

/** What a test may say of a submitter. */
export interface SubmitterSetup {
  readonly dataDir?: string
  readonly privateKey?: Hex
  /** The key before that one, whose transactions are still in flight. */
  readonly retiringKey?: Hex
  /** By default one for each directory. */
  readonly server?: MemoryBus
  readonly rpcUrl?: string
  readonly reserveWei?: bigint
  readonly hourBudgetWei?: bigint
  readonly answerWithinMs?: number
  readonly nowMs?: () => number
  readonly onFatal?: (error: unknown) => void
}

/** A submitter in this process, asked over the bus. */
export interface TestSubmitter {
  readonly dataDir: string
  readonly privateKey: Hex
  /** Its key's address. */
  readonly address: Address
  /** The bus, and its own connection. */
  readonly server: MemoryBus
  readonly bus: MemoryBus
  ask(body: unknown, clientAddress?: string): Promise<TransferAnswer>
  lookUp(actionHash: Hex): Promise<TransferAnswer>
  gas(): Promise<GasStanding>
  stop(): Promise<void>
  /** Stops it and removes its directory. */
  end(): Promise<void>
}

export async function startDeposits(stage: TransferStage, setup: SubmitterSetup = {}) {
  const { deployment } = stage
  const perpManager = deployment.perpManager
  assert(perpManager !== undefined, 'the devnet has a perp manager')
  return startSubmitter(stage, setup, {
    kind: 'deposit',
    createRules: (chain) => createDepositRules({ ...chain, deployment, perpManager }),
  })
}

export async function startWithdrawals(stage: TransferStage, setup: SubmitterSetup = {}) {
  const { deployment } = stage
  return startSubmitter(stage, setup, {
    kind: 'withdrawal',
    createRules: (chain) => createWithdrawalRules({ ...chain, deployment }),
  })
}

/** The bus of each directory, so that a submitter that is started again finds its journal's stream. */
const servers = new Map<string, MemoryBus>()

function serverOf(dataDir: string): MemoryBus {
  const server = servers.get(dataDir) ?? createMemoryBus()
  servers.set(dataDir, server)
  return server
}

async function startSubmitter<Transfer extends SignedTransfer>(
  stage: TransferStage,
  setup: SubmitterSetup,
  sort: Pick<SubmitterOptions<Transfer>, 'kind' | 'createRules'>,
): Promise<TestSubmitter> {
  const { dataDir = mkdtempSync(join(tmpdir(), 'transfers-')), nowMs } = setup
  const privateKey = setup.privateKey ?? (await freshExecutor(stage))
  const server = setup.server ?? serverOf(dataDir)
  const bus = server.connect()
  const signerOf = (key: Hex) => createTransactionSigner(key, stage.deployment.chainId)
  const onFatal = (error: unknown): never => {
    throw error
  }
  const running = await openSubmitter({
    ...sort,
    bus,
    deployment: stage.deployment,
    dataDir,
    policy: POLICY,
    signers: {
      current: signerOf(privateKey),
      ...(setup.retiringKey !== undefined && { retiring: signerOf(setup.retiringKey) }),
    },
    rpcUrl: setup.rpcUrl ?? stage.world.anvil.rpcUrl,
    reserveWei: setup.reserveWei ?? 10n ** 16n,
    hourBudgetWei: setup.hourBudgetWei ?? 10n ** 18n,
    answerWithinMs: setup.answerWithinMs ?? 10_000,
    log: createLog('test', 'silent'),
    onFatal: setup.onFatal ?? onFatal,
    ...(nowMs !== undefined && { nowMs }),
  })
  const stop = async (): Promise<void> => {
    await running.stop()
    await bus.close()
  }
  return {
    ...asksOf({ bus: server }, sort.kind),
    dataDir,
    privateKey,
    stop,
    server,
    bus,
    address: lower(privateKeyToAccount(privateKey).address),
    end: async () => {
      await stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** What a gateway asks of whichever submitter of the kind is there. */
export function asksOf(
  { bus }: Pick<TransferStage, 'bus'>,
  kind: TransferKind,
): Pick<TestSubmitter, 'ask' | 'lookUp' | 'gas'> {
  return {
    ask: async (body, clientAddress = '192.0.2.1') => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const request = { request_id: 'test', client_address: clientAddress, body: text }
      const asked = encodeTransferRequest(request)
      return decodeTransferAnswer(await bus.ask(askTransfer(kind), asked, ASK_TIMEOUT_MS))
    },
    lookUp: async (action_hash) => {
      const asked = encodeTransferLookup({ request_id: 'test', action_hash })
      return decodeTransferAnswer(await bus.ask(askTransferRecord(kind), asked, ASK_TIMEOUT_MS))
    },
    gas: async () =>
      decodeGasStanding(await bus.ask(askGasStanding(kind), new Uint8Array(), ASK_TIMEOUT_MS)),
  }
}

/** The record of an answer; a refusal fails the test with its words. */
export function recordIn(answer: TransferAnswer): TransferRecord {
  if (answer.kind === 'record') return answer.record
  throw new Error(`refused: ${answer.refusal.status} ${answer.refusal.message}`)
}

/** The refusal of an answer; a record fails the test with its status. */
export function refusalIn(answer: TransferAnswer): TransferRefusal {
  if (answer.kind === 'refused') return answer.refusal
  throw new Error(`not refused: ${answer.record.status}`)
}
