/**
 * Function words by language (ISO 639-1). They tell the language of a text, and queries are
 * searched without them. Languages without a stemmer are listed so that none is taken for another.
 */
const lists = {
  af: 'die van en het in is nie wat vir aan met sy hulle hy was word sal ook ons kan maar om deur hierdie daar baie uit nog moet toe geen haar ek jy wie hoe waar',
  ar: 'في من على إلى عن أن إن التي الذي ما هو هي كان كانت هذا هذه ذلك لا لم لن قد مع كل بعد قبل بين أو ثم حتى عند كما أي هل كيف متى أين لماذا ماذا كم منذ خلال التى الى وهو وهي غير حيث الذين وكان',
  bg: 'и на в е за се от да с не по са че като до при или което които който след също има това но той тя те един една между как какво кога къде защо кой през бъде беше към още със може си ще',
  ca: 'el la els les de del dels a al als en un una uns unes i o però que què qui com quan on per amb sense és són era eren va ser seva seu seus aquest aquesta aquests aquestes això no més també molt entre fins des han ha hi es se li tot quin quina',
  cs: 'a v na je se že s z do o i to za který která které kteří byl byla bylo byli jsou by pro jako ale od po při jeho její jejich nebo však co kdo kdy kde jak proč aby také ve ze si již před mezi není podle tím tak jsem jste když pod k ke u',
  da: 'og i det at en den til er som på de med for ikke af var et har han hun sig fra der om vi jeg du men blev efter ved eller kan skal vil også ud hvad hvem hvor hvornår hvordan hvorfor hvilken hvilke deres være havde mellem over op når dette denne disse',
  de: 'der die das den dem des ein eine einer eines einem einen und oder aber in im an am auf aus bei mit nach von vom zu zum zur für über unter durch um als wie ist sind war waren wird werden wurde wurden hat haben hatte sein seine ihr ihre es er sie wir ich du nicht auch sich dass was wer wo wann warum welche welcher welches wenn noch nur so kann können',
  el: 'και το η ο οι τα του της των τον την τους τις στο στη στην στον στα στις στους σε από για με που ότι είναι ήταν να θα δεν μη ένα μια ένας έναν ή αλλά όπως ως μετά πριν κατά τι ποιος ποια ποιο ποιοι ποιες πού πότε πώς γιατί πόσο πόσα αυτό αυτή αυτός αυτά αυτές αυτού έχει είχε έχουν μεταξύ προς επίσης κάθε',
  en: 'a about all am an and any are as at be been being but by can could did do does for from had has have he her hers him his how i if in into is it its just me my no nor not of off on or our ours she should so some such than that the their theirs them then there these they this those through to too up us was we were what when where which while who whom whose why will with would you your yours',
  eo: 'la kaj de en estas estis al por kun ne ke kiu kiuj kio kiel kiam kie kial sed aŭ el ĝi li ŝi ili mi vi ni oni lia ŝia ilia sia tiu tiuj ĉi ĉiu ĉiuj pri per sur post antaŭ inter ankaŭ pli plej esti ĝis sub tra unu',
  es: 'el la los las de del a al en un una unos unas y e o u pero que qué quién quiénes cómo cuándo cuál cuáles dónde cuánto cuántos por para con sin sobre entre hasta desde es son era eran fue fueron ser está están ha han había se su sus lo le les no más también muy como cuando donde este esta estos estas eso esto ese esa si ya yo tú él ella nos',
  et: 'ja on ei et see oli mis ka kui ning oma ta ma sa nad või aga kes kus kuidas millal miks milline selle seda sellest olid kuid pärast enne koos ole olema saab veel juba nii siis mida kelle mille nende tema temas üks ühe poolt kuni läbi vahel',
  eu: 'eta da ez du bat zen dira hau hori ere baina edo zuen izan den dute egin bere beste duen zer nor non noiz nola zergatik zein zenbat arte baino batean bezala dago daude dela ditu gero guztiak hura izango oso zituen zuten ziren',
  fa: 'و در به از که این را با است برای آن یک خود تا کرد بر هم نیز می شد شده بود های ها چه چرا چگونه کجا کی کدام آیا اما یا اگر پس باید هر بین پیش بعد روی کند کنند شود دارد دارند بودند هستند او ما آنها',
  fi: 'ja on ei se että oli hän ovat joka jotka jossa myös kun mutta tai ne sen mukaan kuin olla jonka siitä minä sinä me te he mikä mitä missä milloin miten miksi kuka ketkä onko tämä tämän nämä noin ennen jälkeen sekä vain vuonna jo niin olivat hänen joita ole voi kanssa',
  fr: 'le la les l de du des d un une au aux à en dans par pour sur avec sans sous entre vers chez et ou mais donc ni que qui quoi dont où quand comment pourquoi quel quelle quels quelles est sont était étaient être été a ont avait il elle ils elles on nous vous je tu ce cet cette ces se sa son ses leur leurs ne pas plus aussi y c s n qu',
  ga: 'an na agus i ar is le a ag do go ón sé sí siad bhí tá ní mar nó ach as de den don faoi gur chun cad cé cá conas nuair seo sin bhfuil raibh atá idir leis aige aici air chuig mé tú muid ina',
  he: 'של את על לא זה היא הוא הם הן עם כי או גם אך אבל אם יותר כמו אל מה מי איפה מתי איך למה איזה היה היתה הייתה היו בין עד כל לפני אחרי שהוא זאת זו אלה אשר ידי',
  hi: 'का की के में है हैं और को से पर ने एक यह वह कि ये वे था थे थी हो होता होती होते कर किया गया करने लिए इस उस इन उन जो तो भी नहीं या अपने अपनी साथ तक द्वारा बाद क्या कौन कब कहाँ कहां कैसे क्यों किस किसने कितने कितना कितनी कौनसा जब रहा रहे रही',
  hu: 'a az és hogy nem is egy volt de meg ez azt ki mi mit hol mikor hogyan miért melyik milyen mely amely amelyek aki akik vagy mint csak már el még ha után előtt között szerint által van vannak voltak lett ezt ennek annak alatt során azonban pedig így úgy őt ő ők',
  hy: 'և ու է են էր էին որ որը որի մեջ համար հետ մի այս այդ այն նաև իր նրա նրանք ինչ ով որտեղ երբ ինչպես ինչու թե կամ բայց իսկ ից դեպի մասին ըստ պետք եմ ես նա մենք դուք չի',
  id: 'yang di dan ke dari untuk dengan pada dalam adalah ini itu oleh sebagai tidak akan atau juga karena dapat bisa telah sudah ada mereka ia dia kami kita saya anda apa siapa mana kapan bagaimana mengapa kenapa berapa para seperti lebih antara setelah sebelum saat bahwa namun tetapi tersebut hanya menjadi secara',
  it: 'il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle da dal dalla in nel nella nei con su sul sulla per tra fra e ed o ma che chi cosa come quando dove perché quale quali quanto quanti è sono era erano essere fu stato ha hanno aveva si suo sua suoi loro non più anche questo questa questi queste quello ci ne se',
  lt: 'ir yra į iš su kad ar bet o kaip tai kas kur kada kodėl kuris kuri kurie kurios buvo nuo iki per po už ant prie dėl apie jis ji jie jos jo jų savo ne taip pat tik dar jau prieš tarp šis ši šie tas ta to tuo būti gali nėra kai koks kokia kiek',
  lv: 'un ir ar no par uz kas kā ka bija bet vai arī tika pēc līdz pie kur kad kāpēc kurš kura kuri viņš viņa viņi tā tas šī šis šo to tie savu nav ne lai tikai vēl pirms starp kopā gan jau esmu būt pret',
  mr: 'आणि आहे आहेत या हा ही हे ते तो ती व मध्ये च होते होता होती नाही एक त्या त्याने त्यांच्या केले केला केली साठी काय कोण कधी कुठे कसे का पण किंवा म्हणून असे असा झाला झाली झाले येथे सर्व ला चा ची चे',
  ne: 'र छ को मा का हो हरू लाई गर्न भने यो त्यो पनि ले बाट गरेको भएको छन् थियो थिए एक यस तथा गर्ने भन्ने नै के कहाँ कहिले किन कसरी कुन सम्म लागि हुन् हुन्छ छैन तर वा उनी उनले आफ्नो यी ती',
  nl: 'de het een en van in op aan bij met naar voor uit over onder door om te tot als dan is zijn was waren wordt worden werd werden heeft hebben had niet geen ook maar of dat die dit deze wat wie waar wanneer hoe waarom welke hun haar hij zij ze we wij ik je u er nog wel zich kan kunnen meer tussen',
  no: 'og i det at en den til er som på de med for ikke av var et har han hun seg fra der om vi jeg du men ble etter ved eller kan skal vil også ut hva hvem hvor når hvordan hvorfor hvilken hvilke deres være hadde mellom over opp ei dette denne disse ein eit ikkje frå vart',
  pl: 'i w na z do się jest że nie to o a jak po za od dla przez oraz ale lub który która które którzy był była było byli są być ich jego jej tym tego ten ta te przed między także tylko już co kto kiedy gdzie dlaczego jaki jaka jakie ile ze we przy pod może czy gdy by',
  pt: 'o a os as de do da dos das em no na nos nas um uma uns umas ao aos à às por pelo pela pelos pelas para com sem sobre entre até desde e ou mas que quem qual quais quando onde como porque quanto quantos é são era eram foi foram ser está estão tem têm tinha se seu sua seus suas não mais também muito ele ela eles elas eu isso este esta esse essa já lhe',
  ro: 'și de la în pe cu din pentru un o unei unui este sunt era erau a au fost fi ca că să se care ce cine când unde cum cât câți câte sau dar nu mai după până între prin despre către lor lui ei său sa sale săi acest această acestea aceste cel cea cei cele al ale ai sub fără ar fie într dintre asupra',
  ru: 'и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня о из ему когда даже ну ли если или ни быть был была были для при это этот эта эти который которая которое которые кто где почему какой какая какие какое сколько до они их также после между чем том об под над через',
  sk: 'a v na je sa že s z do o aj to za ktorý ktorá ktoré ktorí bol bola bolo boli sú by pre ako ale od po pri jeho jej ich alebo však čo kto kedy kde prečo aby tiež vo zo si už pred medzi nie podľa tak som ste keď pod k ku u',
  sl: 'in v na je se da za so s z pri po ki kot ali pa tudi bil bila bilo bili ni od do iz ter kaj kdo kdaj kje kako zakaj kateri katera katero njegov njen njihov lahko med pred ob bi še več že o k h to ta ti te',
  sr: 'и у је да се на су за од са не као који која које али или до из био била било били он она они ће бити што шта ко где када како зашто овај ова ово те њихов његов њен након између при о по пре više nije nisu ali ili i u je da se na su za od sa ne kao koji koja koje do iz bio bila bilo bili će biti što šta tko ko gdje gde kada kako zašto ovaj ova ovo te njihov njegov njezin njen nakon između pri prije pre također takođe',
  st: 'ea le ka ke ba ha ho tsa ya se o e la a mo bo hore empa kapa eng mang kae neng joang hobaneng ena oa bona hae tse di ne bile teng hape jwalo fela mme',
  sv: 'och i det att en den till är som på de med för inte av var ett har han hon sig från där om vi jag du men blev efter vid eller kan ska skall vill också ut vad vem vilka hur när varför vilken vilket deras vara hade mellan över upp detta denna dessa än under utan genom',
  sw: 'ya na wa kwa ni katika la za cha kama hii hiyo huo yake wake zake lakini au kutoka hadi pia nini nani wapi lini vipi gani alikuwa ilikuwa kuwa sana wao yeye mimi sisi baada kabla',
  ta: 'மற்றும் ஒரு இந்த அந்த என்று என்ற இது அது உள்ள இருந்து என அவர் அவர்கள் இல் தான் ஆனால் அல்லது எந்த என்ன யார் எங்கே எப்போது எப்படி ஏன் எத்தனை வேண்டும் போன்ற மிகவும் பல சில இவை பின்னர் முன் கொண்ட வரை இருந்தது உள்ளது',
  tr: 've bir bu da de için ile olarak olan o çok daha ama ancak gibi kadar sonra önce ne kim nerede nasıl neden niçin hangi kaç ya veya ki mi mı mu mü değil var yok her en ise diye göre tarafından arasında oldu olduğu olduğunu idi onun onlar ben sen biz siz bunu şu hem nedir kimdir',
  uk: 'і в на не що з до у та як є за від це про або але й його її їх він вона вони був була було були для при після між який яка яке які хто де коли чому скільки також так бути ще же цей ця ці під над через',
  ur: 'کے کی کا میں ہے اور سے کو نے پر یہ کہ اس ایک ہیں تھا تھے تھی وہ بھی جو ہو کر لیے ان کیا کون کب کہاں کیسے کیوں نہیں تو گیا گئی اپنے ساتھ بعد تک ہوتا ہوتی یا',
  vi: 'là của và các có được trong cho một những với không người này để khi đã từ đến tại vào ra như về theo cũng nhiều sau trên hay hoặc nhưng mà thì bởi gì ai đâu nào sao bao nhiêu rằng đó còn phải chỉ lại nếu do bị',
  yi: 'און די דער אין איז פון צו אַז האָט מיט נישט פֿון דאָס ער זי זיי איך מיר ווי וואָס ווער ווען ווו פאַרוואָס אויף אַ אַן זײַן געווען האָבן אָבער אויך נאָך דעם דורך פֿאַר',
} as const

export type Language = keyof typeof lists

const languages = new Map<string, Language[]>()
for (const language of Object.keys(lists) as Language[])
  for (const word of lists[language].split(' '))
    languages.set(word, [...(languages.get(word) ?? []), language])

/** The languages that have this function word. */
export const languagesWith = (word: string): readonly Language[] => languages.get(word) ?? []
