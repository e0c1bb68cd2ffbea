import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../../chain/abi/contracts.js'
import { readAccountEvents } from '../../../chain/reads/account-events.js'
import { createChainClient } from '../../../chain/reads/client.js'
import type { Address, Hex } from '../../../core/action.js'
import { openWorld, perform, type World } from '../../support/devnet-world.js'

describe('events of accounts and session keys', () => {
  let world: World
  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  const lower = (address: Address): string => address.toLowerCase()
  const toMatching = async (from: Address, data: Hex): Promise<void> => {
    await perform(world, { from, to: world.at.matching, data })
  }

  it('are read as the contracts emit them, in order, with the manager of each account', async () => {
    const { alice, carol, at, client } = world
    const first = (await client.getBlockNumber()) + 1n
    const manager = at.perp_manager
    const call = { abi: matchingAbi } as const
    await toMatching(
      alice.address,
      encodeFunctionData({ ...call, functionName: 'createSubAccount', args: [manager] }),
    )
    const args = [carol.address, 9_000_000_000n] as const
    await toMatching(
      alice.address,
      encodeFunctionData({ ...call, functionName: 'registerSessionKey', args }),
    )
    await toMatching(
      alice.address,
      encodeFunctionData({
        ...call,
        functionName: 'deregisterSessionKey',
        args: [carol.address],
      }),
    )
    const last = await client.getBlockNumber()
    const { matching, sub_accounts: subAccounts } = at
    const reader = {
      client: createChainClient(world.anvil.rpcUrl, 'read'),
      deployment: { matching, subAccounts },
    }
    const { accounts, keys } = await readAccountEvents(reader, first, last)
    expect(accounts).to.have.length(1)
    const [account] = accounts
    expect(account).to.include({ kind: 'deposited', owner: lower(alice.address) })
    expect(account).to.have.property('manager', lower(manager))
    expect(account?.blockNumber).to.equal(first)
    expect(keys.map(({ expirySec }) => expirySec)).to.deep.equal([9_000_000_000n, 0n])
    for (const key of keys) {
      expect(key).to.include({ owner: lower(alice.address), key: lower(carol.address) })
    }
    const id = account?.subaccountId ?? 0n
    await toMatching(
      alice.address,
      encodeFunctionData({ ...call, functionName: 'requestWithdrawAccount', args: [id] }),
    )
    await client.increaseTime({ seconds: 10_000_000 })
    await toMatching(
      alice.address,
      encodeFunctionData({ ...call, functionName: 'completeWithdrawAccount', args: [id] }),
    )
    const left = await readAccountEvents(reader, last + 1n, await client.getBlockNumber())
    expect(left.accounts.map(({ kind, subaccountId }) => [kind, subaccountId])).to.deep.equal([
      ['leaving', id],
      ['withdrawn', id],
    ])
  })
})
