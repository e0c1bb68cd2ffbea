import { expect } from 'chai'
import {
  encodeAbiParameters,
  encodeFunctionData,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { batchExecutorAbi } from '../../chain/abi/contracts.js'
import { revertName } from '../../chain/abi/errors.js'
import { encodeBatch } from '../../chain/contracts/calldata.js'
import { readBatchLogs } from '../../chain/contracts/simulate.js'
import { fingerprintOf } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { matchCall, ONE, signOrder } from '../support/devnet-actions.js'
import {
  administer,
  balanceOf,
  openWorld,
  receiptOf,
  revertOf,
  send,
  type Call,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import { MANAGER_DATA } from '../support/payloads.js'

const MATCH_GAS = 1_000_000n
const PRICE = 650_000_000_000_000n
/** Runtime code that reverts with a hundred thousand bytes. */
const BOMB = '0x620186a06000fd'

describe('the batch executor', () => {
  let world: World
  let snapshot: Hex

  before(async () => {
    world = await openWorld()
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  interface Terms {
    readonly amount?: bigint
    readonly worstFee?: bigint
    readonly managerData?: Hex
    readonly seller?: Trader
  }

  /** Calldata of a match in which alice buys, with a fee of one unit. */
  async function aMatch({
    amount = ONE,
    worstFee = ONE,
    managerData,
    seller = world.bob,
  }: Terms = {}) {
    const taker = await signOrder(world, world.alice, { isBid: true, worstFee })
    const maker = await signOrder(world, seller, { isBid: false })
    const rest = managerData === undefined ? {} : { managerData }
    return matchCall(world, { taker, fills: [{ maker, amount }], takerFee: 1n, ...rest }).data
  }

  const batchOf = (calls: readonly Hex[], gasLimit = MATCH_GAS): Hex =>
    encodeBatch(calls.map((call) => ({ gasLimit, call })))

  async function tryAll(data: Hex, gasLimit = 16_000_000n): Promise<TransactionReceipt> {
    const to = world.at.batch_executor
    return receiptOf(world, await send(world, { from: world.executor, to, data }, gasLimit))
  }

  const told = (receipt: TransactionReceipt) => readBatchLogs(receipt.logs, world.at.batch_executor)
  const kinds = (receipt: TransactionReceipt) => told(receipt).map(({ kind }) => kind)

  async function balances(): Promise<bigint[]> {
    const assets: Address[] = [world.at.wrapped_cngn, world.at.wrapped_usdc]
    const ids = [world.alice.subaccountId, world.bob.subaccountId, world.feeAccount]
    return Promise.all(ids.flatMap((id) => assets.map((asset) => balanceOf(world, id, asset))))
  }

  it('carries out the good matches and tells of each, whatever the others do (SET-064)', async () => {
    const calls = [
      await aMatch({ amount: 3n * ONE }),
      await aMatch({ worstFee: 0n, amount: 1n }),
      await aMatch({ amount: 5n * ONE }),
      await aMatch({ amount: 10n ** 30n }),
    ]
    const before = await balances()
    const receipt = await tryAll(batchOf(calls))
    const after = await balances()
    const quote = (8n * ONE * PRICE) / ONE
    expect(after.map((value, i) => value - (before[i] ?? 0n))).to.deep.equal([
      ...[8n * ONE, -quote - 2n],
      ...[-8n * ONE, quote],
      ...[0n, 2n],
    ])
    const events = parseEventLogs({
      abi: batchExecutorAbi,
      logs: receipt.logs,
      eventName: 'MatchTried',
    })
    expect(events.map(({ args }) => args.key)).to.deep.equal(
      calls.map((call) => fingerprintOf(world.at.matching, call)),
    )
    const outcomes = told(receipt).map((outcome) =>
      outcome.kind === 'reverted' ? outcome.revert : outcome.kind,
    )
    expect(outcomes).to.deep.equal(['success', 'TM_FeeTooHigh', 'success', 'TM_FillLimitCrossed'])
  })

  it('costs as much for each further match', async () => {
    const gas = async (matches: number) => {
      const calls = await Promise.all(Array.from({ length: matches }, () => aMatch()))
      const { gasUsed } = await tryAll(batchOf(calls))
      return gasUsed
    }
    const four = await gas(4)
    const twelve = await gas(12)
    const twenty = await gas(20)
    const growth = ((twenty - twelve) * 1000n) / (twelve - four)
    expect(growth > 900n && growth < 1100n, `1000 became ${growth}`).to.equal(true)
  })

  it('does not try what it cannot give all of its gas, at any amount of gas', async () => {
    const calls = [await aMatch(), await aMatch(), await aMatch()]
    const data = batchOf(calls)
    const seen = new Set<string>()
    for (let gas = 400_000n; gas <= 2_800_000n; gas += 60_000n) {
      const id = await world.client.snapshot()
      const receipt = await tryAll(data, gas)
      expect(receipt.status, `with ${gas} gas`).to.equal('success')
      const outcome = kinds(receipt).join()
      expect(outcome).to.match(/^(success,?)*(untried,?)*$/)
      seen.add(outcome)
      await world.client.revert({ id })
    }
    expect([...seen]).to.deep.equal([
      'untried,untried,untried',
      'success,untried,untried',
      'success,success,untried',
      'success,success,success',
    ])
  })

  it('counts what the EVM keeps back of a call of fifteen million', async () => {
    const data = batchOf([await aMatch()], 15_000_000n)
    expect(kinds(await tryAll(data, 15_200_000n))).to.deep.equal(['untried'])
    expect(kinds(await tryAll(data, 15_400_000n))).to.deep.equal(['success'])
  })

  it('leaves balances alone when it tries nothing', async () => {
    const before = await balances()
    expect(kinds(await tryAll(batchOf([await aMatch()]), 500_000n))).to.deep.equal(['untried'])
    expect(await balances()).to.deep.equal(before)
  })

  it('tells a match that used up its own gas from one that reverts', async () => {
    for (const gasLimit of [40_000n, 150_000n, 250_000n]) {
      const [first] = told(await tryAll(batchOf([await aMatch()], gasLimit)))
      expect(first).to.deep.equal({ kind: 'reverted', revert: 'out of gas' })
    }
  })

  it('keeps 256 bytes of what a match throws at it, and goes on', async () => {
    const receiver: Address = `0x${'b0'.repeat(20)}`
    await world.client.setCode({ address: receiver, bytecode: BOMB })
    const managerData = encodeAbiParameters(MANAGER_DATA, [[{ receiver, data: '0x' }]])
    const receipt = await tryAll(batchOf([await aMatch({ managerData }), await aMatch()]))
    expect(kinds(receipt)).to.deep.equal(['reverted', 'success'])
    const [log] = receipt.logs
    // Three words before the bytes, which fill eight.
    expect(log?.data.length).to.equal(2 + 64 * (4 + 8))
  })

  it('takes only matches, and only from its operators', async () => {
    const to = world.at.batch_executor
    const data = batchOf([await aMatch()])
    const unauthorised = { from: world.alice.address, to, data }
    expect(await refusalOf(unauthorised)).to.equal('BE_OnlyOperator')
    const other = { from: world.executor, to, data: batchOf(['0x12345678']) }
    expect(await refusalOf(other)).to.equal('BE_NotAMatch')
    await administer(world, to, batchExecutorAbi, 'setOperator', world.executor, false)
    expect(await refusalOf({ from: world.executor, to, data })).to.equal('BE_OnlyOperator')
  })

  it('lets only its owner name operators', async () => {
    const args = [world.alice.address, true] as const
    const data = encodeFunctionData({ abi: batchExecutorAbi, functionName: 'setOperator', args })
    const to = world.at.batch_executor
    const unauthorised = { from: world.executor, to, data }
    expect(await refusalOf(unauthorised)).to.equal('OwnableUnauthorizedAccount')
    await administer(world, to, batchExecutorAbi, 'setOperator', ...args)
    expect(await refusalOf({ from: world.alice.address, to, data: batchOf([]) })).to.equal('none')
  })

  async function refusalOf(call: Call): Promise<string> {
    const data = await revertOf(world, call)
    return data === 'none' ? data : revertName(data)
  }
})
