# --- Logins ------------------------------------------------------------------------------------


class Logins:
    """Finds device-code logins in the output, so that the owner can confirm them."""

    def __init__(self):
        self.page, self.page_age, self.code, self.code_age = None, 0, None, 0
        self.found = collections.deque()
        self.told = None
        self.news = threading.Event()

    def notice(self, line):
        # The page and the code may be a few lines apart, in either order.
        self.page_age += 1
        self.code_age += 1
        if "https://" not in line and "code" not in line.lower():
            return
        line = ESCAPES.sub("", line)
        page = LOGIN_PAGE.search(line)
        if page:
            self.page, self.page_age = page[0].rstrip(".,;)"), 0
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.page).query)
            for name in ("user_code", "userCode", "code"):
                if query.get(name):
                    self.code, self.code_age = query[name][0], 0
        code = LOGIN_CODE.search(LOGIN_URL.sub("", line))
        if code:
            self.code, self.code_age = code[1], 0
        if self.page and self.code and self.page_age <= 10 and self.code_age <= 10 and self.told != self.code:
            self.told = self.code
            self.found.append({"verifyUrl": self.page, "userCode": self.code})
            self.news.set()


