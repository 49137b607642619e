import Fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { ControlContext } from './context.js'
import { registerFeatures } from './features.js'
import type { App } from './http/app-type.js'

/** Builds the control plane's HTTP application. It does not listen; needs a migrated store. */
export async function buildApp(ctx: ControlContext): Promise<App> {
  const app = Fastify({ loggerInstance: ctx.log, disableRequestLogging: true }) as unknown as App
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  registerFeatures(app, ctx)
  await app.ready()
  return app
}
