import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { createBatch } from '../../devnet/chain/transaction-batch.js'
import { ANVIL_KEY, startAnvil, type Anvil } from '../support/anvil.js'
import { receiptOf, send, type World } from '../support/devnet-world.js'

const GAS = 21_000n
const TO = `0x${'77'.repeat(20)}` as const

/** A busy node was seen to have neither a receipt nor a pool entry of a transaction that it had taken. */
describe('a transaction that the node has taken and forgotten', () => {
  let anvil: Anvil
  before(async () => (anvil = await startAnvil()))
  after(() => anvil.stop())
  const from = privateKeyToAccount(ANVIL_KEY).address

  /** The node mines nothing until what is in its pool is gone. */
  async function forgetting<Sent>(sending: () => Promise<Sent>): Promise<Sent> {
    await anvil.client.setAutomine(false)
    const sent = await sending()
    expect((await anvil.client.getTxpoolStatus()).pending).to.equal(1)
    await anvil.client.request({ method: 'anvil_dropAllTransactions' } as never)
    await anvil.client.setAutomine(true)
    return sent
  }

  it('is sent again by a batch, the same bytes', async () => {
    const batch = await createBatch({ rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY })
    await forgetting(() => batch.send({ to: TO, value: 1n, gas: GAS }))
    const [receipt] = await batch.flush()
    expect(receipt?.status).to.equal('success')
    expect(await anvil.client.getBalance({ address: TO })).to.equal(1n)
  })

  it('is sent again by the worlds of tests', async () => {
    const world = { anvil, client: anvil.client } as World
    const call = { from, to: TO, data: '0x' } as const
    const nonce = await anvil.client.getTransactionCount({ address: from })
    const hash = await forgetting(() => send(world, call, GAS))
    expect((await receiptOf(world, hash)).status).to.equal('success')
    expect(await anvil.client.getTransactionCount({ address: from })).to.equal(nonce + 1)
  })
})
