import type { Refusal } from '@gateway/contracts/errors.js'
import type { PagePreferences } from '../http/page-preferences.js'
import { escaped, plainPage } from '../http/plain-page.js'

const en = {
  title: 'Map asset gateway',
  credentials: 'Sign in to open the console',
  refused: 'The console is not opened',
  advice:
    'Sign in with the name and the password of the administrator: ADMIN_USER and ADMIN_PASSWORD, in the environment or in the env file of this service, ' +
    'where the first start has written them.',
  again: 'Sign in',
}
const zh: typeof en = {
  title: '地图资产网关',
  credentials: '登录后才能打开控制台',
  refused: '无法打开控制台',
  advice:
    '请使用管理员的名称和密码登录：即环境变量或本服务环境文件中的 ADMIN_USER 和 ADMIN_PASSWORD，首次启动时已写入该文件。',
  again: '登录',
}

/** Renders the page for a person who opened a page and was refused, for example after closing the browser's dialog: the reason and the remedy. */
export function refusalPage({ code, message }: Refusal, preferences: PagePreferences, nonce: string): string {
  const t = preferences.language === 'zh' ? zh : en
  const lacksCredentials = code === 'admin_credentials_missing' || code === 'admin_credentials_wrong'
  const words = lacksCredentials
    ? `<p>${t.advice}</p>\n<p><a class="button" href="/admin/sign-in">${t.again}</a></p>`
    : ''
  return plainPage({
    ...preferences,
    title: t.title,
    nonce,
    main: `<p class="brand">${t.title}</p>
<h1>${lacksCredentials ? t.credentials : t.refused}</h1>
<p role="alert" class="message">${escaped(message)}</p>
${words}`,
  })
}
