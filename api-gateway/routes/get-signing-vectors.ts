import { signingVectors } from '../../chain/signing/vectors.js'
import { SigningVectors } from '../../interface/signing.js'
import { broken, type Route } from '../route.js'

/** `GET /v1/signing-vectors.json`: a signature of each kind for this venue, step by step, to compare a client with. */
export const getSigningVectors: Route = {
  method: 'GET',
  path: '/v1/signing-vectors.json',
  operation: {
    id: 'readSigningVectors',
    tag: 'Documentation',
    summary: 'Read signatures to compare with',
    description:
      'Each order, cancel, deposit, permit, withdrawal and frame is signed with one published key. A contract wallet signs the same digest in its own way.',
    responses: {
      200: { description: 'One vector for each kind.', body: SigningVectors },
      500: broken,
    },
  },
  handler(deps) {
    // Of the markets that are listed now; made again when they change.
    let made: { readonly of: string; readonly vectors: Promise<SigningVectors> } | undefined
    return async (ctx) => {
      const markets = deps.markets.filter(({ enabled }) => enabled)
      const of = markets.map(({ market, tickSize, minSize }) => [market, tickSize, minSize]).join()
      if (made?.of !== of) {
        const { deployment, auth } = deps
        made = { of, vectors: signingVectors({ deployment, words: auth.words, markets }) }
      }
      ctx.body = await made.vectors
    }
  },
}
