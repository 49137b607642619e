import type { enPartner } from './en-partner.js'

export const zhPartner: typeof enPartner = {
  title: '为合作方开通访问',
  lead: '为所选地图签发一个令牌，并备好需要一并发送的内容。',
  what: '访问范围',
  name: '合作方',
  until: '有效期至',
  give: '开通访问',
  given: '令牌与代码片段',
  text: '发送用的文字',
  withSecret: '包含令牌',
  withSecretHint: '如果用电子邮件发送，请不要包含令牌，改用其他途径发送。',
  snippetsOf: '代码片段所用的底图',
  open: '打开令牌页面',
  mail: {
    greeting: (name) => `${name} 的访问说明`,
    until: (moment) => `以下地图可访问至 ${moment}：`,
    forever: '可以访问以下地图：',
    withoutSecret: (place) => `令牌将另行发送，请用它替换 ${place}。`,
    secret: (token) => `令牌（请保密）：${token}`,
    networks: (list) => `只能从以下网络使用：${list}`,
    origins: (list) => `只能在以下网站使用：${list}`,
    header: '程序也可以用请求头 X-Access-Token 发送令牌，而不必写进 URL。',
  },
}
