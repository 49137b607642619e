import type { Role } from '@gateway/contracts/operator.js'

/** The parts of an OpenAPI 3.1 document that this service extends. All other parts pass unchanged from the generator. */
export interface Operation {
  summary?: string
  description?: string
  operationId?: string
  /** lowest role that may call it */
  'x-required-role'?: Role
  tags?: readonly string[]
  security?: readonly Readonly<Record<string, readonly string[]>>[]
  parameters?: readonly unknown[]
  requestBody?: unknown
  responses?: Record<string, { description?: string } & Record<string, unknown>>
}

export type PathItem = { [method: string]: Operation }
export type Paths = Record<string, PathItem>

export interface ApiDocument {
  paths?: Paths
  webhooks?: Readonly<Record<string, PathItem>>
  components?: Record<string, unknown> & { schemas?: Record<string, unknown> }
}
