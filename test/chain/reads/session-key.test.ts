import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../../chain/abi/contracts.js'
import { createChainClient } from '../../../chain/reads/client.js'
import { createAccountReader } from '../../../chain/reads/read-account.js'
import type { Hex } from '../../../core/action.js'
import { openWorld, perform, type World } from '../../support/devnet-world.js'

const NAMES = {
  register: { abi: matchingAbi, functionName: 'registerSessionKey' },
  deregister: { abi: matchingAbi, functionName: 'deregisterSessionKey' },
} as const

/** What the venue reads as the end of a session key of alice's: carol's address. */
describe('the end of a session key', () => {
  let world: World

  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  const register = (expiry: bigint): Promise<void> =>
    send(encodeFunctionData({ ...NAMES.register, args: [world.carol.address, expiry] }))
  const deregister = (): Promise<void> =>
    send(encodeFunctionData({ ...NAMES.deregister, args: [world.carol.address] }))
  const send = async (data: Hex): Promise<void> => {
    await perform(world, { from: world.alice.address, to: world.at.matching, data })
  }
  const nowSec = async (): Promise<bigint> => (await world.client.getBlock()).timestamp
  const endOf = async (): Promise<bigint | undefined> => {
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const { matching, sub_accounts: subAccounts } = world.at
    const reader = createAccountReader({
      client,
      deployment: { matching, subAccounts },
      cacheMs: 0,
    })
    return reader.readSessionKeyExpiry(world.alice.address, world.carol.address)
  }

  it('is 0 before it was registered, then its expiry, near or far', async () => {
    expect(await endOf()).to.equal(0n)
    const near = (await nowSec()) + 300n
    await register(near)
    expect(await endOf()).to.equal(near)
    await register(near + 100_000n)
    expect(await endOf()).to.equal(near + 100_000n)
  })

  it('is 0 from the start of its deregistration, though the chain lets it sign for a cooldown more (AUT-020)', async () => {
    await deregister()
    expect(await endOf()).to.equal(0n)
  })

  it('is its expiry again when it was registered anew', async () => {
    const near = (await nowSec()) + 620n
    await register(near)
    expect(await endOf()).to.equal(near)
    await register(near + 1n)
    await world.client.increaseTime({ seconds: 60 })
    await world.client.mine({ blocks: 1 })
    expect(await endOf()).to.equal(near + 1n)
  })
})
