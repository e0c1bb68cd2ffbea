import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { bytesToHex, hexToBytes, recoverStrict } from '../../chain/signing/keys.js'
import { verifyFrame } from '../../chain/signing/verify-frame.js'
import { createActionHasher } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { readAuthFrame } from '../../core/entry/auth-frame.js'
import { decodeTradeData, readAction } from '../../core/entry/read-action.js'
import { readCancel, readCancelAll } from '../../core/entry/read-cancels.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import type { Market } from '../../core/model/market.js'
import type { SigningVector, SigningVectors, VenueFacts } from '../../interface/signing.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { A_DEPLOYMENT, aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const WORDS = { domain: 'venue.test', product: 'service' }
const MARKETS: readonly Market[] = [aMarket(), aPerp(), aFuture()]
const BEFORE_SEC = 1_798_761_500

describe('what a client needs to sign', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage({
      markets: [...MARKETS, aFuture({ market: 'OFF', enabled: false })],
    })
  })
  after(() => gateway.close())

  const get = async <Body>(path: string): Promise<Body> => {
    const { status, json } = await gateway.send('GET', path)
    expect(status).to.equal(200)
    return json as Body
  }

  describe('GET /v1/venue', () => {
    it('has the domains, the contracts, the frames, the limits and the listed markets (AUT-002, REA-048)', async () => {
      const venue = await get<VenueFacts>('/v1/venue')
      expect(venue.release).to.match(/^[0-9]+[.][0-9]+[.][0-9]+$/)
      expect(venue.chain_id).to.equal(A_DEPLOYMENT.chainId)
      expect(venue.domains).to.deep.equal({
        actions: {
          name: 'Matching',
          version: '1.0',
          chainId: A_DEPLOYMENT.chainId,
          verifyingContract: A_DEPLOYMENT.matching,
        },
        permits: {
          name: 'USD Coin',
          version: '2',
          chainId: A_DEPLOYMENT.chainId,
          verifyingContract: A_DEPLOYMENT.usdc,
        },
      })
      expect(venue.contracts).to.include({
        matching: A_DEPLOYMENT.matching,
        deposit_module: A_DEPLOYMENT.depositModule,
        cash_asset: A_DEPLOYMENT.cashAsset,
        perp_manager: A_DEPLOYMENT.perpManager,
      })
      expect(venue.contracts).not.to.have.property('batch_executor')
      expect(venue.frames).to.deep.include({ header: 'X-Service-Auth', ...WORDS })
      expect(venue.frames.socket).to.deep.equal({
        text: [
          'venue.test wants you to authenticate for the service markets WebSocket.',
          'Address: {address}\nNonce: {nonce}\nIssued At: {issued_at}\nExpiration Time: {expiry}',
        ].join('\n'),
        max_valid_seconds: 300,
      })
      expect(venue.limits).to.include({ body_bytes: 65_536, transfer_ahead_seconds: 3_600 })
      expect(venue.markets.map(({ market }) => market)).to.deep.equal(
        MARKETS.map(({ market }) => market),
      )
      expect(venue.markets.at(-1)).to.deep.include({
        amount_scale: '1000000000000000',
        taker_fee_bps: 25,
        maker_fee_bps: 0,
      })
    })

    it('tells wallets of the chain what the operator has set, and else its number alone', async () => {
      expect((await get<VenueFacts>('/v1/venue')).chain).to.deep.equal({
        name: `Chain ${A_DEPLOYMENT.chainId}`,
      })
      const chain = { name: 'Base', rpc_url: 'https://node.test', explorer_url: undefined }
      const told = await aGatewayStage({ markets: [...MARKETS], chain })
      try {
        const { json } = await told.send('GET', '/v1/venue')
        expect((json as VenueFacts).chain).to.deep.equal({
          name: 'Base',
          rpc_url: 'https://node.test',
        })
      } finally {
        await told.close()
      }
    })

    it('names every contract on which the documents have an owner call a function', async () => {
      const { contracts } = await get<VenueFacts>('/v1/venue')
      expect(contracts).to.include({
        spot_manager: MARKETS[0]?.marginManagerAddress,
        perpetual_manager: MARKETS[1]?.marginManagerAddress,
        future_manager: MARKETS[2]?.marginManagerAddress,
      })
      for (const name of ['FIRST-FILL', 'FUTURES']) {
        const url = new URL(`../../../docs/${name}.md`, import.meta.url)
        const text = readFileSync(url, 'utf8')
        const calls = [...text.matchAll(/`createAndDepositSubAccount[^`]*` on ([^.;:]*)/g)]
        expect(calls.length, name).to.be.greaterThan(0)
        for (const [, on] of calls)
          expect(on).to.match(/`sub_account_creator` of `GET \/v1\/venue`/)
      }
    })

    it('names documents that are served', async () => {
      const { documents } = await get<VenueFacts>('/v1/venue')
      for (const path of Object.values(documents)) {
        expect([path, (await gateway.send('GET', path)).status]).to.deep.equal([path, 200])
      }
    })
  })

  describe('GET /v1/signing-vectors.json', () => {
    let vectors: SigningVectors
    before(async () => {
      vectors = await get<SigningVectors>('/v1/signing-vectors.json')
    })
    const named = (name: string): SigningVector => {
      const found = vectors.vectors.find((vector) => vector.name === name)
      if (found === undefined) throw new Error(`no vector ${name}`)
      return found
    }
    const hasher = createActionHasher({
      chainId: A_DEPLOYMENT.chainId,
      verifyingContract: A_DEPLOYMENT.matching,
    })
    const actionOf = (json: unknown) => {
      const read = readAction(json)
      if ('refusal' in read) throw new Error(read.refusal.message)
      return read.action
    }

    it('has one of each kind, each signed by the published key (REA-047)', () => {
      expect(vectors.vectors.map(({ name }) => name)).to.deep.equal([
        ...MARKETS.map(({ market }) => `order on ${market}`),
        ...['cancel', 'cancel-all', 'deposit', 'permit', 'withdrawal'],
        ...['frame for the history', 'frame for the socket'],
      ])
      for (const { name, digest, signature } of vectors.vectors) {
        const signed = recoverStrict(hexToBytes(digest as Hex), hexToBytes(signature as Hex))
        expect(signed, name).to.equal(vectors.address)
      }
    })

    it('has orders that the venue takes, with the digest that it computes (REA-047)', () => {
      for (const market of MARKETS) {
        const { body = {}, digest } = named(`order on ${market.market}`)
        const checked = validateOrder(body, { markets: MARKETS, nowMs: BEFORE_SEC * 1_000 })
        expect(checked, market.market).not.to.have.property('refusal')
        const action = actionOf(body.action_json)
        expect(bytesToHex(hasher.digest(action)), market.market).to.equal(digest)
        expect(decodeTradeData(action.data)).to.have.nested.property('data.isBid', true)
      }
    })

    it('has a cancel, a deposit and a withdrawal with the digests that it computes', () => {
      const cancel = readCancel(named('cancel').body)
      if ('refusal' in cancel || cancel.proof === undefined || !('nonce' in cancel))
        throw new Error('no proof')
      const { owner, nonce, proof } = cancel
      const terms = { owner, nonce, signer: proof.signer, expiry: proof.expirySec }
      expect(bytesToHex(hasher.cancelDigest(terms))).to.equal(named('cancel').digest)
      const all = readCancelAll(named('cancel-all').body, { market: '' })
      if ('refusal' in all || all.proof === undefined) throw new Error('no proof')
      const { signer, issuedAtSec: issuedAt, expirySec: expiry } = all.proof
      const allTerms = { owner: all.owner, signer, scope: all.scope, issuedAt, expiry }
      expect(bytesToHex(hasher.cancelAllDigest(allTerms))).to.equal(named('cancel-all').digest)
      for (const [name, module] of [
        ['deposit', A_DEPLOYMENT.depositModule],
        ['withdrawal', A_DEPLOYMENT.withdrawalModule],
      ] as const) {
        const action = actionOf(named(name).body?.action)
        expect(action.module).to.equal(module)
        expect(bytesToHex(hasher.digest(action)), name).to.equal(named(name).digest)
      }
    })

    it('has frames that open what they name (REA-047)', () => {
      for (const purpose of ['history', 'socket'] as const) {
        const read = readAuthFrame(named(`frame for the ${purpose}`).body)
        if ('reason' in read) throw new Error(read.reason)
        const check = { purpose, words: WORDS, nowSec: BEFORE_SEC }
        expect(verifyFrame(read.frame, check)).to.deep.equal({ owner: vectors.address as Address })
      }
    })
  })
})
