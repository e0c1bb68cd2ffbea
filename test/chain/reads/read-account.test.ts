import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../../chain/abi/contracts.js'
import { createHeadReader } from '../../../chain/reads/blocks.js'
import { createChainClient } from '../../../chain/reads/client.js'
import { createAccountReader } from '../../../chain/reads/read-account.js'
import type { Address } from '../../../core/action.js'
import { openWorld, perform, type World } from '../../support/devnet-world.js'

const NO_ADDRESS: Address = `0x${'00'.repeat(20)}`

describe('account reader on a chain', () => {
  let world: World

  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  const readerOf = (options: { cacheMs?: number; rpcUrl?: string } = {}) => {
    const { cacheMs = 0, rpcUrl = world.anvil.rpcUrl } = options
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    return createAccountReader({ client: createChainClient(rpcUrl, 'read'), deployment, cacheMs })
  }

  const byAlice = (functionName: 'requestWithdrawAccount' | 'registerSessionKey', args: never) =>
    perform(world, {
      from: world.alice.address,
      to: world.at.matching,
      data: encodeFunctionData({ abi: matchingAbi, functionName, args }),
    })

  it('tells the owner, the custody and the manager of an account', async () => {
    const facts = await readerOf().readAccount(world.alice.subaccountId)
    expect(facts).to.deep.equal({
      recordedOwner: world.alice.address,
      inCustody: true,
      manager: world.at.spot_manager,
      withdrawRequestedAtSec: 0n,
    })
  })

  it('tells that an account has no owner, or is not held by matching', async () => {
    const nowhere = await readerOf().readAccount(10n ** 9n)
    expect(nowhere).to.deep.equal({
      recordedOwner: NO_ADDRESS,
      inCustody: false,
      manager: NO_ADDRESS,
      withdrawRequestedAtSec: 0n,
    })
    const feeAccount = await readerOf().readAccount(world.feeAccount)
    expect(feeAccount).to.include({ inCustody: false, recordedOwner: NO_ADDRESS })
  })

  it('sees a request to leave, but keeps facts for the time it was told', async () => {
    const kept = readerOf({ cacheMs: 60_000 })
    const before = await kept.readAccount(world.alice.subaccountId)
    await byAlice('requestWithdrawAccount', [world.alice.subaccountId] as never)
    expect(await kept.readAccount(world.alice.subaccountId)).to.equal(before)
    const fresh = await readerOf().readAccount(world.alice.subaccountId)
    const { timestamp } = await world.client.getBlock()
    expect(fresh?.withdrawRequestedAtSec).to.equal(timestamp)
  })

  it('keeps the facts of an account that no block touches, but none that refuse its orders', async () => {
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    const reader = createAccountReader({
      client,
      deployment,
      cacheMs: 0,
      readHead: createHeadReader(client),
      touched: { isUntouched: () => true },
    })
    const held = await reader.readAccount(world.bob.subaccountId)
    const notHeld = await reader.readAccount(world.feeAccount)
    expect([held?.inCustody, notHeld?.inCustody]).to.deep.equal([true, false])
    expect(await reader.readAccount(world.bob.subaccountId)).to.equal(held)
    expect(await reader.readAccount(world.feeAccount)).to.not.equal(notHeld)
  })

  it('tells until when a session key may sign, and 0 for a key that is not registered', async () => {
    const reader = readerOf()
    await byAlice('registerSessionKey', [world.bob.address, 4_000_000_000n] as never)
    const expiryOf = (key: Address) => reader.readSessionKeyExpiry(world.alice.address, key)
    expect(await expiryOf(world.bob.address)).to.equal(4_000_000_000n)
    expect(await expiryOf(world.carol.address)).to.equal(0n)
  })

  it('answers undefined when the chain cannot be read', async () => {
    const reader = readerOf({ rpcUrl: 'http://127.0.0.1:1' })
    expect(await reader.readAccount(1n)).to.equal(undefined)
    expect(await reader.readSessionKeyExpiry(NO_ADDRESS, NO_ADDRESS)).to.equal(undefined)
  })
})
