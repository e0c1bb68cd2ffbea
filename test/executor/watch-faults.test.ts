import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import {
  batchExecutorAbi,
  managerAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type { FaultsAnswer } from '../../interface/execute.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import {
  administer,
  openAccount,
  openWorld,
  perform,
  testKey,
  type World,
} from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  EXECUTOR_SECRET,
  executeBody,
  marketsOf,
  removeDir,
  startExecutor,
  type ExecutorSetup,
  type RunningExecutor,
} from '../support/executor-world.js'
import { readBody } from '../support/answer-body.js'

const MARKET = 'cNGN-USDC'

describe('executor watching what it needs beside the orders', () => {
  let world: World
  let executor: RunningExecutor

  before(async () => {
    world = await openWorld()
    executor = await startExecutor(world)
  })
  after(async () => {
    await executor.stop()
    await removeDir(executor.dataDir)
    await world.anvil.stop()
  })

  const get = async (path: string, { url } = executor): Promise<[number, unknown]> => {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${EXECUTOR_SECRET}` },
    })
    return [response.status, await readBody(response)]
  }
  const faultIs = (revert: string | undefined): Promise<void> =>
    eventually(async () => {
      const [status, body] = await get('/faults')
      expect(status).to.equal(200)
      expect((body as FaultsAnswer).faults[MARKET]).to.equal(revert)
    })
  const READY = [200, { status: 'ready' }]

  it('finds nothing where all is well', async () => {
    await faultIs(undefined)
    expect(await get('/readyz')).to.deep.equal(READY)
  })

  it('finds that it may not settle, is not ready meanwhile, and recovers', async () => {
    const { matching, batch_executor: batches } = world.at
    await administer(world, matching, matchingAbi, 'setTradeExecutor', batches, false)
    await faultIs('M_OnlyTradeExecutor')
    const error = `${batches} is not a trade executor of ${matching}: allow it there`
    expect(await get('/readyz')).to.deep.equal([503, { error }])
    await administer(world, matching, matchingAbi, 'setTradeExecutor', batches, true)
    await faultIs(undefined)
    expect(await get('/readyz')).to.deep.equal(READY)
  })

  it('finds that it is not an operator of the batch executor', async () => {
    const { batch_executor: batches } = world.at
    const operator = (isAllowed: boolean) => ['setOperator', world.executor, isAllowed] as const
    await administer(world, batches, batchExecutorAbi, ...operator(false))
    await faultIs('BE_OnlyOperator')
    await administer(world, batches, batchExecutorAbi, ...operator(true))
    await faultIs(undefined)
  })

  it('finds that the module is not allowed, and stays ready for other markets', async () => {
    const { matching, spot_trade_module: module } = world.at
    await administer(world, matching, matchingAbi, 'setAllowedModule', module, false)
    await faultIs('M_OnlyAllowedModule')
    expect((await get('/faults'))[1]).to.deep.equal({ faults: { [MARKET]: 'M_OnlyAllowedModule' } })
    expect(await get('/readyz')).to.deep.equal(READY)
    await administer(world, matching, matchingAbi, 'setAllowedModule', module, true)
    await faultIs(undefined)
  })

  it('finds the pause of the market’s manager, and of that of the account for the fees', async () => {
    const { spot_manager: spot, perp_manager: perp, spot_trade_module: module } = world.at
    await administer(world, spot, managerAbi, 'setAdjustmentsPaused', true)
    await faultIs('BM_AdjustmentsPaused')
    await administer(world, spot, managerAbi, 'setAdjustmentsPaused', false)
    await faultIs(undefined)
    const account = await openAccount(world, world.at.fee_owner, perp)
    await administer(world, module, tradeModuleAbi, 'setFeeRecipient', account)
    await administer(world, perp, managerAbi, 'setAdjustmentsPaused', true)
    await faultIs('BM_AdjustmentsPaused')
    await administer(world, perp, managerAbi, 'setAdjustmentsPaused', false)
    await administer(world, module, tradeModuleAbi, 'setFeeRecipient', 0n)
    await faultIs('MW_UnknownManager')
    await administer(world, module, tradeModuleAbi, 'setFeeRecipient', world.feeAccount)
    await faultIs(undefined)
  })

  it('finds with the match that met it what only a match shows', async () => {
    const consent = async (positive: bigint) => {
      const allowance = { asset: world.at.wrapped_usdc, positive, negative: 0n }
      const args = [world.feeAccount, world.at.spot_trade_module, [allowance]] as const
      const name = { abi: subAccountsAbi, functionName: 'setAssetAllowances' } as const
      const data = encodeFunctionData({ ...name, args })
      await perform(world, { from: world.at.fee_owner, to: world.at.sub_accounts, data })
    }
    await consent(0n)
    const taker = await signOrder(world, world.alice, { isBid: true })
    const makers = [await signOrder(world, world.bob, { isBid: false })]
    const { status, body } = await executor.post(executeBody({ taker, makers, amount: ONE }))
    expect([status, body.guilty]).to.deep.equal([422, 'venue'])
    await faultIs('NotEnoughSubIdOrAssetAllowances')
    await consent(2n ** 256n - 1n)
    await faultIs(undefined)
  })

  it('finds that a market is wired otherwise than its row says, which holds that one alone', async () => {
    const [spot, perp] = marketsOf(world)
    if (spot === undefined || perp === undefined) throw new Error('two markets are shipped')
    const { spot_trade_module, wrapped_usdc, perp_asset } = world.at
    const nowhere: Address = `0x${'ab'.repeat(20)}`
    const wrong: readonly [Partial<Market>, RegExp][] = [
      [{ tradeModuleAddress: spot_trade_module }, /does not trade 0x[0-9a-f]{40} as a perpetual/],
      [{ tradeModuleAddress: perp_asset }, /does not trade/],
      [{ quoteAssetAddress: wrapped_usdc }, /settles in 0x[0-9a-f]{40}, not in 0x[0-9a-f]{40}$/],
      [{ marginManagerAddress: nowhere }, /^no contract at margin manager 0xab/],
      [{ tradeModuleAddress: nowhere }, /^no contract at trade module 0xab/],
    ]
    for (const [change, why] of wrong) {
      const told: (string | undefined)[] = []
      const faultFound = (_: string, revert: string, reason?: string) => told.push(revert, reason)
      const row = { ...perp, ...change } as Market
      const other = await startExecutor(world, { markets: [spot, row], facts: { faultFound } })
      expect(await get('/faults', other)).to.deep.equal([
        200,
        { faults: { [perp.market]: 'wrong_wiring' } },
      ])
      expect(await get('/readyz', other)).to.deep.equal(READY)
      expect(told[0]).to.equal('wrong_wiring')
      expect(told[1]).to.match(why)
      await other.stop()
      await removeDir(other.dataDir)
    }
  })

  it('reads a market that was added while it runs, its wiring first', async () => {
    const [spot] = marketsOf(world)
    if (spot === undefined) throw new Error('no market is shipped')
    const markets = [spot]
    const other = await startExecutor(world, { markets })
    const added = (faults: object) =>
      eventually(async () => expect(await get('/faults', other)).to.deep.equal([200, { faults }]))
    await added({})
    const nowhere: Address = `0x${'ee'.repeat(20)}`
    markets.push({ ...spot, market: 'ADDED', tradeModuleAddress: nowhere })
    await added({ ADDED: 'wrong_wiring' })
    expect(await get('/readyz', other)).to.deep.equal(READY)
    await other.stop()
    await removeDir(other.dataDir)
  })

  const otherKeys: readonly [string, ExecutorSetup, RegExp][] = [
    [
      'may not settle',
      { batches: false },
      /is not a trade executor of 0x[0-9a-f]{40}: allow it there/,
    ],
    ['may not send batches', {}, /is not an operator of 0x[0-9a-f]{40}: allow it there/],
  ]
  for (const [name, setup, why] of otherKeys) {
    it(`starts with a key that ${name}, and says so`, async () => {
      const other = await startExecutor(world, { privateKey: testKey(4242), ...setup })
      const [status, body] = await get('/readyz', other)
      expect(status).to.equal(503)
      expect((body as { error: string }).error).to.match(why)
      await other.stop()
      await removeDir(other.dataDir)
    })
  }
})
