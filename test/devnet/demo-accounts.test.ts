import { expect } from 'chai'
import { encodeFunctionData, erc20Abi, parseAbi, toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { createGiver, MOST_A_MINUTE, type Giver } from '../../devnet/demo-accounts/giver.js'
import { deploy, type DevnetDeployment } from '../../devnet/chain/deploy.js'
import { BatchError } from '../../devnet/chain/transaction-batch.js'
import { ANVIL_KEY, startAnvil, type Anvil } from '../support/anvil.js'
import { testKey } from '../support/devnet-world.js'

const DEMO_KEY = testKey(1005)
/** Where the contract counts: behind the owner. */
const GIVEN_SLOT = toHex(1, { size: 32 })
const UNIT = 1_000_000n

const ownerOf = (n: number): Address => `0x${n.toString(16).padStart(40, 'd')}`

describe('devnet/demo-accounts', () => {
  let anvil: Anvil
  let at: DevnetDeployment
  let seeder: Address
  let nowMs = 0

  before(async () => {
    anvil = await startAnvil()
    const executor = privateKeyToAddress(testKey(1002)).toLowerCase() as Address
    at = await deploy({
      rpcUrl: anvil.rpcUrl,
      privateKey: ANVIL_KEY,
      demoKey: DEMO_KEY,
      calendar: 'none',
      tradeExecutors: [executor],
      batchOperators: [executor],
      feeOwnerKey: testKey(1001),
      feederKey: testKey(1004),
    })
    if (at.demo_seeder === undefined) throw new Error('nothing gives demo accounts')
    seeder = at.demo_seeder
  })
  after(() => anvil.stop())

  const open = (privateKey = DEMO_KEY): Giver =>
    createGiver({
      rpcUrl: anvil.rpcUrl,
      privateKey,
      nowMs: () => nowMs,
      at: { ...at, demo_seeder: seeder },
    })

  it('opens a trading and a margin account, with gas and tokens in the wallet', async () => {
    const owner = ownerOf(1)
    const given = await open().give(owner)
    if (typeof given === 'string') throw new Error(given)
    expect(given.address).to.equal(owner)
    for (const id of [given.spot_subaccount_id, given.perp_subaccount_id]) {
      const held = await anvil.client.readContract({
        address: at.matching,
        abi: matchingAbi,
        functionName: 'subAccountToOwner' as const,
        args: [BigInt(id)] as const,
      })
      expect(held.toLowerCase()).to.equal(owner)
    }
    expect(await anvil.client.getBalance({ address: owner })).to.equal(5n * 10n ** 16n)
    const balance = { abi: erc20Abi, functionName: 'balanceOf', args: [owner] } as const
    expect(await anvil.client.readContract({ ...balance, address: at.usdc })).to.equal(
      10_000n * UNIT,
    )
    expect(await anvil.client.readContract({ ...balance, address: at.cngn })).to.equal(
      10_000_000n * UNIT,
    )
  })

  it('gives an address its accounts once, however often it asks, at once or after a crash', async () => {
    const giver = open()
    const together = await Promise.all([giver.give(ownerOf(2)), giver.give(ownerOf(2))])
    expect(together[1]).to.deep.equal(together[0])
    expect(await open().give(ownerOf(2))).to.deep.equal(together[0])
    // The contract itself refuses, whatever its process believes.
    const abi = parseAbi([
      'struct Endowment { address token; address asset; uint256 amount; }',
      'function give(address, address, Endowment[], address, Endowment[], Endowment[]) payable',
      'error AlreadyGiven()',
    ])
    const args = [ownerOf(2), at.spot_manager, [], at.perp_manager, [], []] as const
    const data = encodeFunctionData({ abi, functionName: 'give', args })
    const account = privateKeyToAddress(DEMO_KEY)
    const again = await anvil.client.call({ account, to: seeder, data }).catch(String)
    expect(again).to.match(/AlreadyGiven|0x18e50ea5|reverted/)
  })

  it('gives ten in a minute, and those that were given before at any time', async () => {
    nowMs = 1_000_000
    const giver = open()
    for (let n = 0; n < MOST_A_MINUTE; n += 1)
      expect(await giver.give(ownerOf(100 + n))).to.be.an('object')
    expect(await giver.give(ownerOf(200))).to.equal('busy')
    expect(await giver.give(ownerOf(100))).to.be.an('object')
    nowMs += 60_000
    expect(await giver.give(ownerOf(200))).to.be.an('object')
  })

  it('throws what may be tried again when the chain does not take the transaction', async () => {
    const failed = await open(testKey(1004))
      .give(ownerOf(300))
      .catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(BatchError)
    nowMs += 60_000
    expect(await open().give(ownerOf(300))).to.be.an('object')
  })

  it('ends when the devnet has given all', async () => {
    await anvil.client.setStorageAt({
      address: seeder,
      index: GIVEN_SLOT,
      value: toHex(1_000, { size: 32 }),
    })
    nowMs += 60_000
    expect(await open().give(ownerOf(400))).to.equal('exhausted')
    expect(await open().give(ownerOf(1))).to.be.an('object')
  })
})
