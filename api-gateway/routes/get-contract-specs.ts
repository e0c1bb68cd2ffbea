import { z } from 'zod'
import { contractSpec } from '../../core/records/listed-contract-record.js'
import { ContractSpec } from '../../interface/listed-contracts.js'
import { listedContracts } from '../listed-markets.js'
import { LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { broken, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/contract_specs`: what one contract of each perpetual and future counts. */
export const getContractSpecs: Route = {
  method: 'GET',
  path: '/v1/integrations/contract_specs',
  operation: {
    id: 'listContractSpecs',
    tag: 'Market data',
    summary: 'List what one contract of each perpetual and future counts',
    responses: {
      ...taggedAnswers({ description: 'By identifier.', body: z.array(ContractSpec) }),
      500: broken,
    },
  },
  handler: (deps) => (ctx) =>
    answerTagged(ctx, listedContracts(deps.markets).map(contractSpec), LISTED_MAX_AGE_SEC),
}
