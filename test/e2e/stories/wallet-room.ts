import { expect } from 'chai'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../../../core/action.js'
import { eventually } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { BASE_CHAIN_ID, installWallet, type BrowserWallet } from '../stage/browser-wallet.js'
import type { StoryVenue } from '../stage/story-venue.js'

/** What the page's wallet room does in a browser, with a wallet as an extension announces it, on a whole venue. */

/** The room as one script, with what a page gives it. */
const ROOM = `
import { createConnection } from './web/wallet/connection.js'
import { venueChain } from './web/wallet/chain.js'
import { followWallets } from './web/wallet/discover.js'
import { openTradingAccount } from './web/wallet/open-account.js'
import { createKeyShelf, createTrading } from './web/wallet/session-key.js'
import { createSender } from './web/wallet/transactions.js'
import { openVault } from './web/wallet/vault.js'
import * as client from './client/index.js'

const base = location.origin + '/'
const venue = client.createRestClient(base)
const facts = await venue.venue()
const chain = venueChain(facts)
const states = []
const connection = createConnection(chain, (state) => states.push(state.kind + (state.fault ? ' ' + state.fault.code : '')))
let wallets = []
followWallets(window, (found) => (wallets = found), globalThis.ethereum)
const accounts = (owner) => venue.accounts(owner)
const vault = openVault(indexedDB, crypto, chain.matching)
const trading = createTrading({
  accounts, vault, tab: createKeyShelf(sessionStorage, chain.matching), nowMs: Date.now,
})
const ready = () => connection.state()
const sender = () => {
  const { wallet, address } = ready()
  return createSender({ provider: wallet.provider, owner: address, chain, check: () => undefined, everyMs: 200 })
}
const domain = { chainId: facts.chain_id, matching: chain.matching }
const words = { domain: facts.frames.domain, product: facts.frames.product }
globalThis.room = {
  client, venue, facts, chain, states, connection, accounts, trading, vault, sender, ready, domain, words,
  wallets: () => wallets, openTradingAccount,
}
`

export function walletRoom(stage: () => StoryVenue): void {
  let venue: TestVenue
  let page: Page
  let wallet: BrowserWallet
  let script: string
  const key = (index: number): Hex => venue.devnet.accounts[index]?.private_key as Hex
  before(async () => {
    venue = stage().venue
    const built = await build({
      stdin: { contents: ROOM, resolveDir: '.', loader: 'ts' },
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
    })
    script = built.outputFiles[0]?.text ?? ''
    page = await (await stage().browser.newContext()).newPage()
    wallet = await installWallet(page, venue.devnet, key(2))
    await load()
  })
  after(() => page?.context().close())

  /** Opens a document of the venue's origin, under its policy, and the room in it. */
  async function load(): Promise<void> {
    await page.route('**/room.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: script }),
    )
    await page.goto(`${venue.gatewayUrl}/docs`)
    await page.evaluate("import('/room.js')")
  }
  /** Runs the body of an async function in the page, where \`room\` is the room. */
  const run = <Value>(body: string): Promise<Value> =>
    page.evaluate(`(async () => { const room = globalThis.room; ${body} })()`)
  /** The code of the fault that the body throws. */
  const faultOf = (body: string): Promise<string> =>
    run(`try { ${body} } catch (error) { return error.code ?? String(error) } return 'none'`)
  const state = (): Promise<string> =>
    run("const { kind, fault } = room.ready(); return kind + (fault ? ' ' + fault.code : '')")
  const until = (kind: string): Promise<void> =>
    eventually(async () => expect((await state()).split(' ')[0]).to.equal(kind))
  const connect = (): Promise<void> => run('await room.connection.connect(room.wallets()[0])')

  it('finds the wallet, and goes on after a rejection, on a wrong chain and on one without the venue', async () => {
    expect(await run('return room.wallets().map(({ name, rdns }) => [name, rdns])')).to.deep.equal([
      ['Test Wallet', 'test.wallet'],
    ])
    wallet.rejectNext('eth_requestAccounts')
    await connect()
    expect(await state()).to.equal('none rejected')
    await wallet.moveTo(BASE_CHAIN_ID)
    await connect()
    expect(await state()).to.equal('wrong_chain wrong_chain')
    const sent = await faultOf(
      "await room.sender().send({ to: room.chain.matching, data: '0x', deed: 'x' })",
    )
    expect(sent).to.equal('wrong_chain')
    wallet.chains.delete(venue.devnet.chain_id)
    wallet.rejectNext('wallet_addEthereumChain')
    await run('await room.connection.switchChain()')
    expect(await state()).to.equal('wrong_chain rejected')
    await run('await room.connection.switchChain()')
    expect(await state()).to.equal('ready')
    wallet.chains.set(venue.devnet.chain_id, 'empty')
    await connect()
    expect(await state()).to.equal('not_the_venue not_the_venue')
    wallet.chains.set(venue.devnet.chain_id, 'venue')
    await connect()
    expect(await state()).to.equal('ready')
    expect(wallet.misled).to.deep.equal([])
  })

  it('lets an account go before another one comes', async () => {
    await run('room.states.length = 0')
    await wallet.choose(key(3))
    await until('ready')
    expect(await run('return room.states')).to.deep.equal(['connecting', 'ready'])
    expect(await run('return room.ready().address')).to.equal(venue.devnet.accounts[3]?.address)
    await wallet.moveTo(BASE_CHAIN_ID)
    await until('wrong_chain')
    await wallet.moveTo(venue.devnet.chain_id)
    await until('ready')
    await wallet.lock()
    expect(await state()).to.equal('none locked')
    await connect()
    expect(await state()).to.equal('ready')
  })

  it('trades by a session key without a prompt: orders, histories, sockets; after a reload too', async () => {
    wallet.prompts.length = 0
    expect(
      await faultOf('await room.trading.enable(room.sender(), { livesSec: 3600, remember: true })'),
    ).to.equal('none')
    expect(wallet.prompts).to.deep.equal(['eth_sendTransaction'])
    const { address } = privateKeyToAccount(key(3))
    await load()
    await run('await room.connection.resume(room.wallets()[0])')
    expect(await state()).to.equal('ready')
    const traded: { status: string; orders: number; acked: boolean } = await run(`
      const key = await room.trading.known(room.ready().address)
      const { client, venue, words } = room
      const { owner, signer } = key
      const frame = await client.signFrame(signer, { purpose: 'history', ...words, owner })
      const { accounts } = await room.accounts(owner)
      const [market] = (await venue.markets()).filter(({ market }) => market === 'cNGN-USDC')
      const { subaccount_id } = accounts.find(({ markets }) => markets.includes('cNGN-USDC'))
      const body = await client.signOrder(signer, room.domain, {
        market, orderId: crypto.randomUUID(), subaccountId: subaccount_id, owner,
        nonce: client.randomNonce(), expirySec: Math.floor(Date.now() / 1000) + 600,
        side: 'buy', price: '0.0004', amount: '2000',
      })
      const { status, order_id } = await venue.placeOrder(body)
      const { orders } = await venue.orderHistory(frame)
      const acked = await new Promise((resolve, reject) => {
        const socket = client.createSocketClient({
          url: new URL('/v1/ws', location.href).href.replace('http', 'ws'),
          authenticate: () => client.signFrame(signer, { purpose: 'socket', ...words, owner }),
        })
        socket.subscribe('orders', market.market, {
          onSnapshot: () => resolve(true), onUpdate: () => undefined, onRefused: (code) => reject(new Error(code)),
        })
        setTimeout(() => reject(new Error('no snapshot')), 20000)
      })
      await venue.cancelList({ owner_address: owner, order_ids: [order_id] }, frame)
      return { status, orders: orders.length, acked }`)
    expect(traded).to.deep.equal({ status: 'active', orders: 1, acked: true })
    expect(wallet.prompts, 'of all that').to.deep.equal(['eth_sendTransaction'])
    expect(await run('return room.ready().address')).to.equal(address.toLowerCase())
  })

  it('keeps the key under one that no script reads out, and forgets it when it is revoked', async () => {
    const kept: { text: string; extractable: boolean } = await run(`
      const db = await new Promise((resolve) => {
        const opening = indexedDB.open('venue', 1)
        opening.onsuccess = () => resolve(opening.result)
      })
      const all = db.transaction('session-keys').objectStore('session-keys').getAll()
      await new Promise((resolve) => (all.onsuccess = resolve))
      db.close()
      const [{ cipher, sealed }] = all.result
      const { privateKey } = await room.vault.read(room.ready().address)
      const text = new TextDecoder('latin1').decode(sealed)
      return { text: text.includes(privateKey.slice(2)) ? 'readable' : 'sealed', extractable: cipher.extractable }`)
    expect(kept).to.deep.equal({ text: 'sealed', extractable: false })
    expect(await run('return Object.keys(sessionStorage).length')).to.equal(0)
    const ended: { code: string; known: boolean } = await run(`
      const { owner, address, signer } = await room.trading.known(room.ready().address)
      await room.trading.revoke(room.sender(), address)
      const frame = await room.client.signFrame(signer, { purpose: 'history', ...room.words, owner })
      const code = await room.venue.fills(frame).then(() => 'let in', (error) => error.code)
      return { code, known: (await room.trading.known(owner)) !== undefined }`)
    expect(ended).to.deep.equal({ code: 'session_key_ended', known: false })
  })

  it('asks for nothing of a wallet without money, in words with a cure', async () => {
    await wallet.choose(generatePrivateKey())
    await until('ready')
    const poor = await faultOf(`
      await room.openTradingAccount(room.sender(), {
        facts: room.facts, token: 'USDC', amount: '5', manager: room.chain.matching, accounts: room.accounts,
        unseen: new Map() })`)
    expect(poor).to.equal('no_tokens')
    const gasless = await faultOf(
      'await room.trading.enable(room.sender(), { livesSec: 3600, remember: false })',
    )
    expect(gasless).to.equal('no_gas')
  })
}
