import { expect } from 'chai'
import { toEventSelector } from 'viem'
import type { Hex } from '../../core/action.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { balanceOf, openWorld } from '../support/devnet-world.js'
import type { World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { executeBody, removeDir, startExecutor } from '../support/executor-world.js'
import type { RunningExecutor } from '../support/executor-world.js'

const AMOUNT = 1_000n * ONE
/** Blocks on top of a mined one until it counts as final. */
const FINAL_DEPTH = 12
const EVENT = toEventSelector('MatchTried(bytes32,uint8,uint256,bytes)').slice(2)
/** Runtime code that says of one match that it was not tried: outcome 3, no gas used, no revert data. */
const NOT_TRIED: Hex = `0x60036000526060604052${'6000'}7f${EVENT}60806000a200`
/** Runtime code that reverts. */
const REVERTS: Hex = '0x60006000fd'

/** A batch that is mined without having tried a match leaves it open, but only when it is final may it go again. */
describe('executor whose batch was mined in vain', () => {
  let world: World
  let executor: RunningExecutor
  let code: Hex

  before(async () => {
    world = await openWorld()
    code = (await world.client.getCode({ address: world.at.batch_executor })) ?? '0x'
  })
  beforeEach(async () => {
    executor = await startExecutor(world, { timeoutMs: 500 })
    await world.client.setAutomine(false)
  })
  afterEach(async () => {
    await world.client.setAutomine(true)
    await executor.stop()
    await removeDir(executor.dataDir)
  })
  after(() => world.anvil.stop())

  const setCode = (bytecode: Hex) =>
    world.client.setCode({ address: world.at.batch_executor, bytecode })

  for (const [name, bytecode] of [
    ['for want of gas', NOT_TRIED],
    ['because it reverted as a whole', REVERTS],
  ] as const) {
    it(`sends the match again ${name}, under a new nonce and not before the old one is final (SET-015)`, async () => {
      const taker = await signOrder(world, world.alice, { isBid: true })
      const maker = await signOrder(world, world.bob, { isBid: false })
      const body = executeBody({ taker, makers: [maker], amount: AMOUNT })
      const bought = () => balanceOf(world, world.alice.subaccountId, world.at.wrapped_cngn)
      const before = await bought()
      const post = async () => (await executor.post(body, 'm:1')).body

      await post()
      await eventually(async () => (await world.client.getTxpoolStatus()).pending === 1)
      await setCode(bytecode)
      await world.client.mine({ blocks: 1 })
      await setCode(code)
      const [first] = executor.journaled
      for (let look = 0; look < 3; look += 1) {
        const early = await post()
        expect(early).to.deep.equal({ accepted: true, tx_hash: first, receipt_status: 'timeout' })
      }
      expect(executor.journaled).to.have.length(1)

      await world.client.mine({ blocks: FINAL_DEPTH })
      await eventually(async () => {
        await post()
        return executor.journaled.length === 2
      })
      await world.client.mine({ blocks: 1 })
      let late: Record<string, unknown> = {}
      await eventually(async () => {
        late = await post()
        return late.receipt_status === 'success'
      })
      expect(late).to.include({ tx_hash: executor.journaled[1] })
      expect(await bought()).to.equal(before + AMOUNT)
      const nonces = executor.journaled.map((hash) => world.client.getTransaction({ hash }))
      const [old, young] = (await Promise.all(nonces)).map(({ nonce }) => nonce)
      expect(young).to.equal((old ?? 0) + 1)
    })
  }
})
