"""What the paper prints, number by number."""

TABLE1 = {
    ("RankAD", 3): (0.9206, 0.9200, 0.9223, 0.9210),
    ("RankAD", 5): (0.9234, 0.9243, 0.9247, 0.9255),
    ("RankAD", 7): (0.9226, 0.9228, 0.9234, 0.9213),
    ("RankAD", 10): (0.9201, 0.9208, 0.9244, 0.9196),
    ("aK-LPE", 0): (0.9192, 0.9251, 0.9244, 0.9228),
    ("Bayes", 0): (0.9290, 0.9290, 0.9290, 0.9290),
}
"""AUC by system and number of levels (0: has none), for each k of TABLE1_K."""

TABLE1_K = (5, 10, 20, 40)

TABLE2 = {
    "annthyroid": (6832, 6),
    "cover": (286048, 10),
    "http": (567497, 3),
    "mammography": (11183, 6),
    "mulcross": (262144, 4),
    "satellite": (6435, 36),
    "shuttle": (49097, 9),
    "smtp": (95156, 3),
}
"""Number of points and of features."""

TABLE3_SYSTEMS = ("RankAD", "one-class svm", "BP-K-NNG", "aK-LPE", "iForest", "massAD")

TABLE3_AUC = {
    "annthyroid": (0.844, 0.681, 0.823, 0.753, 0.856, 0.789),
    "cover": (0.932, 0.869, 0.889, 0.876, 0.853, 0.895),
    "http": (0.999, 0.998, 0.995, 0.999, 0.986, 0.995),
    "mammography": (0.909, 0.863, 0.886, 0.879, 0.891, 0.701),
    "mulcross": (0.998, 0.970, 0.994, 0.998, 0.971, 0.998),
    "satellite": (0.885, 0.774, 0.872, 0.884, 0.812, 0.692),
    "shuttle": (0.996, 0.975, 0.985, 0.995, 0.992, 0.992),
    "smtp": (0.934, 0.751, 0.902, 0.900, 0.869, 0.859),
}
"""AUC of each of TABLE3_SYSTEMS, a mean of five runs."""

TABLE3_SECONDS = {
    "annthyroid": (0.338, 0.281, 2.171, 2.173, 1.384, 0.030),
    "cover": (1.748, 1.638, 8.185, 13.41, 7.239, 0.483),
    "http": (0.187, 0.376, 2.391, 11.04, 5.657, 0.384),
    "mammography": (0.237, 0.223, 0.981, 1.443, 1.721, 0.044),
    "mulcross": (2.732, 2.272, 8.772, 13.75, 7.864, 0.559),
    "satellite": (0.393, 0.355, 0.976, 1.199, 1.435, 0.030),
    "shuttle": (1.317, 1.318, 6.404, 7.169, 4.301, 0.186),
    "smtp": (1.116, 1.105, 7.912, 11.76, 5.924, 0.411),
}
"""Seconds of the test stage, on a machine that the paper does not name."""

RUNS = 5
"""Runs that the paper averages over."""
