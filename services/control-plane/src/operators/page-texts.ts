/** The words of the pages for those who are not signed in. */
const en = {
  lang: 'en',
  title: 'Map asset gateway',
  heading: 'Sign in',
  signIn: (host: string) => `Sign in at ${host}`,
  password: 'With the administrator’s password',
  user: 'User name',
  passwordField: 'Password',
  submit: 'Sign in',
  again: 'Sign in again',
  signedOut: 'You are signed out here.',
  signOutThere: (host: string) => `Sign out at ${host} as well`,
  problems: {
    unreachable:
      'The sign-in service does not answer at the moment. Try again in a while, or use the administrator’s password below.',
    unreachableNoPassword: 'The sign-in service does not answer at the moment. Try again in a while.',
    failed: 'Signing in did not succeed. Try again; if it happens again, the log of the control plane says why.',
    denied: 'The sign-in service did not let you in.',
    stale: 'The sign-in took too long, or was begun in another window. Try again.',
    password: 'The user name or the password is wrong.',
    tooMany: 'There were too many wrong passwords from this address. Wait a minute, then try again.',
  },
  noRole: (actor: string) => `You are ${actor}, who has no role here.`,
  noRoleAdvice: 'Ask an administrator to add one of your groups to OIDC_ROLES, or sign in as somebody else.',
}

export type PageTexts = typeof en

const zh: PageTexts = {
  lang: 'zh-CN',
  title: '地图资源网关',
  heading: '登录',
  signIn: (host) => `通过 ${host} 登录`,
  password: '使用管理员密码',
  user: '用户名',
  passwordField: '密码',
  submit: '登录',
  again: '重新登录',
  signedOut: '您已在此退出登录。',
  signOutThere: (host) => `同时在 ${host} 退出`,
  problems: {
    unreachable: '登录服务暂时没有响应。请稍后重试，或使用下面的管理员密码。',
    unreachableNoPassword: '登录服务暂时没有响应。请稍后重试。',
    failed: '登录未成功。请重试；若再次出现，控制面的日志会说明原因。',
    denied: '登录服务没有允许您进入。',
    stale: '登录用时过长，或是在另一个窗口中开始的。请重试。',
    password: '用户名或密码错误。',
    tooMany: '此地址的错误密码次数过多。请等一分钟后重试。',
  },
  noRole: (actor) => `您是 ${actor}，在这里没有角色。`,
  noRoleAdvice: '请管理员将您所在的某个组加入 OIDC_ROLES，或以其他身份登录。',
}

export const PAGE_TEXTS = { en, zh }

/** In Chinese where the browser prefers it to English. */
export function textsFor(acceptLanguage: string | undefined): PageTexts {
  const preferred = (acceptLanguage ?? '')
    .slice(0, 500)
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim())
    .find((entry) => entry.startsWith('zh') || entry.startsWith('en'))
  return preferred?.startsWith('zh') ? zh : en
}
