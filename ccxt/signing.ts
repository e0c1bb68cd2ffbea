import { ExchangeNotAvailable, functions, type Dict, type int } from 'ccxt'
import { secp256k1 } from 'noble-curves/secp256k1.js'
import { keccak_256 as keccak } from 'noble-hashes/sha3.js'
import { VenueApi } from './abstract.js'

/** What the owner of an account signs, and how requests are made and answers judged. */

const ACTION_TYPES = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
}

/** Reads that show no market, and take no `min_seq`. */
const UNNUMBERED = ['accounts', 'health', 'time', 'venue']

/** A new frame is signed when the one at hand has so little left, in seconds. */
const FRAME_ROOM_SEC = 60

export abstract class VenueSigning extends VenueApi {
  /** Chain, domains and frames, read once: what every signature is over. */
  async loadVenue(reload: boolean = false): Promise<Dict> {
    const known = this.safeDict(this.options, 'venue')
    if (known !== undefined && !reload) {
      return known
    }
    const venue = await this.publicGetVenue()
    this.options.venue = venue
    return venue
  }

  venueFacts(): Dict {
    const venue = this.safeDict(this.options, 'venue')
    if (venue === undefined) {
      throw new ExchangeNotAvailable(this.id + ' call loadMarkets() before requests of your own')
    }
    return venue
  }

  /** The venue's clock in unix seconds. */
  venueSeconds(): int {
    const difference = this.safeInteger(this.options, 'timeDifference', 0)
    return this.parseToInt((this.milliseconds() - difference) / 1000)
  }

  /** The address of the key. */
  signerAddress(): string {
    this.checkRequiredCredentials()
    return this.ethGetAddressFromPrivateKey(this.privateKey)
  }

  /** `walletAddress` where the key is a session key of it; else the address of the key. */
  ownerAddress(): string {
    if (this.walletAddress === undefined || this.walletAddress === '') {
      return this.signerAddress()
    }
    return this.walletAddress.toLowerCase()
  }

  signHash(hash: string): string {
    this.checkRequiredCredentials()
    const key = this.remove0xPrefix(this.privateKey)
    const signature = functions.ecdsa(this.remove0xPrefix(hash), key, secp256k1, null, false)
    const r = signature.r.padStart(64, '0')
    const s = signature.s.padStart(64, '0')
    return '0x' + r + s + this.intToBase16(this.sum(27, signature.v))
  }

  /** The digest of EIP-191 text. */
  hashMessage(message: string): string {
    const binary = this.encode(message)
    const prefix = this.encode(
      '\x19Ethereum Signed Message:\n' + this.numberToString(binary.length),
    )
    return '0x' + this.hash(this.binaryConcat(prefix, binary), keccak, 'hex')
  }

  /** The digest of an action as EIP-712 struct; its numbers are decimal text. */
  hashAction(action: Dict): string {
    const domain = this.venueFacts().domains.actions
    const encoded = this.ethEncodeStructuredData(domain, ACTION_TYPES, {
      subaccountId: action.subaccount_id,
      nonce: action.nonce,
      module: action.module,
      data: action.data,
      expiry: action.expiry,
      owner: action.owner,
      signer: action.signer,
    })
    return '0x' + this.hash(encoded, keccak, 'hex')
  }

  /** A frame that proves the owner; `purpose` is `history` or `socket`. */
  signFrame(purpose: string, validSeconds: int): Dict {
    const issuedAt = this.venueSeconds()
    const owner = this.ownerAddress()
    const signer = this.signerAddress()
    const fields: Dict = {
      address: owner,
      nonce: this.uuid(),
      issued_at: issuedAt,
      expiry: this.sum(issuedAt, validSeconds),
    }
    const text = this.implodeParams(this.venueFacts().frames[purpose].text, fields)
    fields.signature = this.signHash(this.hashMessage(text))
    if (signer !== owner) {
      fields.signer_address = signer
    }
    return fields
  }

  /** The header of own reads and of cancels; the same until it is about to expire. */
  authHeader(): string {
    const owner = this.ownerAddress()
    const known = this.safeDict(this.options, 'frame', {})
    const key = owner + this.signerAddress()
    const until = this.safeInteger(known, 'until', 0)
    if (this.safeString(known, 'key') === key && until > this.venueSeconds()) {
      return known.header
    }
    const validSeconds = this.safeInteger(this.options, 'frameSeconds', 3600)
    const frame = this.signFrame('history', validSeconds)
    const base64 = this.stringToBase64(this.json(frame))
    const header = base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    this.options.frame = { key, header, until: this.sum(frame.expiry, -FRAME_ROOM_SEC) }
    return header
  }

  override sign(
    path: any,
    api: any = 'public',
    method = 'GET',
    params: Dict = {},
    headers: any = undefined,
    body: any = undefined,
  ): Dict {
    let url = this.urls['api']['rest'] + '/' + this.version + '/' + this.implodeParams(path, params)
    let query = this.omit(params, this.extractParams(path))
    headers = this.extend({}, headers)
    if (method === 'GET') {
      const seen = this.seenText()
      if (seen !== '' && !this.inArray(path, UNNUMBERED)) {
        query = this.extend({ min_seq: seen }, query)
      }
      if (Object.keys(query).length > 0) {
        url += '?' + this.urlencode(query)
      }
    } else {
      headers['Content-Type'] = 'application/json'
      body = this.json(query)
    }
    if (api === 'private') {
      headers[this.venueFacts().frames.header] = this.authHeader()
    }
    return { url, method, body, headers }
  }

  /** What answers have shown of each market: the next read shows at least that. */
  seenText(): string {
    const seen = this.safeDict(this.options, 'seen', {})
    return Object.keys(seen)
      .map((market) => market + '=' + this.numberToString(seen[market]))
      .join(', ')
  }

  noteSeen(marketId: string, seq: int) {
    const seen = this.safeDict(this.options, 'seen', {})
    seen[marketId] = Math.max(seq, this.safeInteger(seen, marketId, 0))
    this.options.seen = seen
  }

  noteSeenHeader(text: string) {
    const parts = text.split(',')
    for (let i = 0; i < parts.length; i++) {
      const [marketId, seq] = (parts[i] as string).trim().split('=')
      if (marketId !== undefined && seq !== undefined) {
        this.noteSeen(marketId, this.parseToInt(seq))
      }
    }
  }

  override handleErrors(
    statusCode: int,
    _statusText: string,
    _url: string,
    _method: string,
    responseHeaders: Dict,
    responseBody: string,
    response: any,
    _requestHeaders: any,
    _requestBody: any,
  ): undefined {
    if (statusCode < 400) {
      const shown = this.safeString(responseHeaders, 'X-Feed-Seq')
      if (shown !== undefined) {
        this.noteSeenHeader(shown)
      }
      return undefined
    }
    const code = this.safeString(response, 'code')
    if (code === undefined) {
      return undefined
    }
    if (code === 'min_seq_ahead' || code === 'invalid_min_seq') {
      this.options.seen = {}
    }
    if (statusCode === 409 && this.safeDict(response, 'order') !== undefined) {
      // A repeat of the same signed order: the answer has the order that it is.
      return true as any
    }
    const feedback = this.id + ' ' + code + ' ' + this.safeString(response, 'error', responseBody)
    const detail = this.safeDict(response, 'detail', {})
    if (code.startsWith('duplicate') && this.safeString(detail, 'held_by') === undefined) {
      this.throwExactlyMatchedException(this.exceptions['exact'], 'outcome_unknown', feedback)
    }
    this.throwExactlyMatchedException(this.exceptions['exact'], code, feedback)
    this.throwBroadlyMatchedException(this.exceptions['broad'], code, feedback)
    return undefined
  }
}
