"""Texts of scripts that set no blanks between words are found by a part of them, alone and beside Latin and code."""

import pytest

from graphmem import Memory

RECORDS = {
    "zh-pool": "数据库连接池耗尽导致请求超时，增大连接池上限后恢复正常",
    "zh-lock": "两个事务互相等待产生死锁，按固定顺序加锁即可避免",
    "zh-cert": "证书过期后客户端拒绝握手，需要重新签发证书",
    "zh-redis": "升级redis之后缓存雪崩，给过期时间加随机数",
    "ja-memory": "メモリ不足でコンテナが強制終了された。上限を増やして解決した",
    "ja-encoding": "文字コードの違いでファイルの読み込みに失敗する。`utf8mb4`を指定する",
    "ja-build": "ビルドのキャッシュが壊れていたため、Dockerイメージを作り直した",
    "ko-token": "인증 토큰이 만료되어 로그인이 실패했다. 토큰을 새로 발급한다",
    "ko-disk": "디스크 공간이 부족해서 배포가 중단되었다",
    "ko-migration": "마이그레이션 순서가 잘못되어 테이블을 찾을 수 없다",
}
QUESTIONS = [
    ("连接池超时怎么办", "zh-pool"),
    ("为什么数据库会超时", "zh-pool"),
    ("如何避免死锁", "zh-lock"),
    ("锁", "zh-lock"),
    ("证书过期", "zh-cert"),
    ("redis缓存雪崩", "zh-redis"),
    ("Redis 雪崩的原因", "zh-redis"),
    ("コンテナのメモリ不足", "ja-memory"),
    ("ﾒﾓﾘ不足", "ja-memory"),
    ("文字コードが違うときの読み込み", "ja-encoding"),
    ("utf8mb4が必要なファイル", "ja-encoding"),
    ("Docker イメージのキャッシュ", "ja-build"),
    ("토큰 만료", "ko-token"),
    ("로그인은 왜 실패하나요", "ko-token"),
    ("디스크가 부족할 때", "ko-disk"),
    ("테이블이 없는 마이그레이션", "ko-migration"),
]


@pytest.mark.parametrize(("question", "name"), QUESTIONS)
def test_a_question_finds_the_text_that_shares_parts_of_its_words(memory: Memory, question: str, name: str) -> None:
    for key, text in RECORDS.items():
        memory.failures.add(text, name=key, dedup=False)
    hits = memory.query(question).results
    assert hits and hits[0].ref == f"failure/{name}"


@pytest.mark.parametrize("question", ["redis", "Docker", "utf8mb4", "src/auth/token.py", "getUserById", "TokenError"])
def test_what_is_latin_between_other_letters_is_a_word(memory: Memory, question: str) -> None:
    memory.failures.add(f"升级{question}之后缓存失效", name="zh", dedup=False)
    memory.failures.add(f"ビルドは{question}で失敗する", name="ja", dedup=False)
    memory.failures.add(f"배포가 {question}에서 중단되었다", name="ko", dedup=False)
    memory.failures.add("缓存 ビルド 배포", name="other", dedup=False)
    assert {hit.ref for hit in memory.query(question).results} == {"failure/zh", "failure/ja", "failure/ko"}
