import type { PagePreferences } from '../platform/http/page-preferences.js'

/** Texts of the pages for users who are not signed in. */
const en = {
  title: 'Map asset gateway',
  heading: 'Sign in',
  signIn: (host: string) => `Sign in at ${host}`,
  password: 'With the administrator’s password',
  user: 'User name',
  passwordField: 'Password',
  submit: 'Sign in',
  again: 'Sign in again',
  signedOut: 'You are signed out here.',
  noPassword:
    'No password is configured. Set ADMIN_USER and ADMIN_PASSWORD in the environment or in the env file of this service, and restart it.',
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
  landing: {
    what: 'This service holds maps: it serves tiles, tile sets and vector files to map clients, and says who may read them.',
    console: 'Open the console',
    consoleHint: 'For operators: maps, tokens, scans, pushes.',
    map: 'See a map',
    mapHint: 'With the code of a basemap and a token that may read it, in the address: /map/#code=CODE&token=TOKEN',
    docs: 'Documentation',
    docsHint: 'How to install, run and use this service.',
    reference: 'The API as an OpenAPI document',
    referenceHint: 'For programs that read maps or run this service.',
    clients: 'Addresses for map clients',
    clientsHint: 'WMTS at /wmts, WMS at /wms, OGC API at /ogc, TMS at /tms/1.0.0; each takes a token.',
  },
  noRole: (actor: string) => `You are ${actor}, who has no role here.`,
  noRoleAdvice: 'Ask an administrator to add one of your groups to OIDC_ROLES, or sign in as somebody else.',
}

export type PageTexts = typeof en

const zh: PageTexts = {
  title: '地图资产网关',
  heading: '登录',
  signIn: (host) => `通过 ${host} 登录`,
  password: '使用管理员密码',
  user: '用户名',
  passwordField: '密码',
  submit: '登录',
  again: '重新登录',
  signedOut: '您已在此退出登录。',
  noPassword: '尚未配置密码。请在环境变量或本服务的环境文件中设置 ADMIN_USER 和 ADMIN_PASSWORD，然后重新启动服务。',
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
  landing: {
    what: '本服务保存地图：向地图客户端提供瓦片、瓦片集和矢量文件，并决定谁可以读取。',
    console: '打开控制台',
    consoleHint: '供运维人员使用：地图、令牌、扫描、推送。',
    map: '查看地图',
    mapHint: '在地址中给出底图代码和可读取它的令牌：/map/#code=CODE&token=TOKEN',
    docs: '文档',
    docsHint: '如何安装、运行和使用本服务。',
    reference: 'OpenAPI 接口文档',
    referenceHint: '供读取地图或管理本服务的程序使用。',
    clients: '地图客户端地址',
    clientsHint: 'WMTS 在 /wmts，WMS 在 /wms，OGC API 在 /ogc，TMS 在 /tms/1.0.0；都需要令牌。',
  },
  noRole: (actor) => `您是 ${actor}，在这里没有角色。`,
  noRoleAdvice: '请管理员将您所在的某个组加入 OIDC_ROLES，或以其他身份登录。',
}

export const textsFor = ({ language }: PagePreferences): PageTexts => (language === 'zh' ? zh : en)
